package dev.saccade.train.hooks;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.Streams;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The hooks of a run, in the order of their calls. Errors name the hook. */
public final class Hooks implements AutoCloseable {

    /** Separates hook and value in names of checkpoint entries; see {@link #requireNames}. */
    private static final char END_OF_NAME = ':';

    private final ImmutableList<Hook> members;

    /** Rejects null hooks. */
    public Hooks(List<? extends Hook> members) {
        for (int i = 0; i < members.size(); i++) {
            if (members.get(i) == null) {
                throw SaccadeException.user(
                        "hook %d of %d is null; remove it", i + 1, members.size());
            }
        }
        this.members = ImmutableList.copyOf(members);
    }

    /** Builds the hooks of a config. Errors name the hook and close the previous hooks. */
    public static Hooks build(List<? extends Hook.Config> configs) {
        List<Hook> built = new ArrayList<>();
        try {
            configs.forEach(config -> built.add(build(config)));
            return new Hooks(built);
        } catch (SaccadeException e) {
            new Hooks(built).close();
            throw e;
        }
    }

    private static Hook build(Hook.Config config) {
        String name = config.getClass().getName();
        Hook hook = named(name, "build", config::build);
        if (hook == null) {
            throw SaccadeException.user("hook %s: build returned null, expected a hook", name);
        }
        return hook;
    }

    /** Requires names without a colon. */
    public void requireNames() {
        for (Hook hook : members) {
            String type = hook.getClass().getName();
            String name = named(type, "name", hook::name);
            if (name == null || name.indexOf(END_OF_NAME) >= 0) {
                throw SaccadeException.user(
                        "hook %s: got name %s, expected a name without a colon", type, name);
            }
        }
    }

    /** Returns these hooks followed by others. */
    public Hooks and(Hooks others) {
        return new Hooks(Streams.concat(members.stream(), others.members.stream()).toList());
    }

    /** Calls all hooks. Errors name {@code event}, the called method. */
    public void each(String event, Consumer<Hook> action) {
        for (Hook hook : members) {
            call(hook, event, action);
        }
    }

    /** Returns the state of all hooks. Fails if two hooks with a state have the same name. */
    public Map<String, Tensor> state() {
        Map<String, Tensor> all = new LinkedHashMap<>();
        Set<String> owners = new HashSet<>();
        for (Hook hook : members) {
            HookState state = new HookState();
            call(hook, "save", each -> each.save(state));
            if (!state.tensors().isEmpty() && !owners.add(hook.name())) {
                throw SaccadeException.user(
                        "hook %s: two hooks with a state have this name; give them"
                                + " different names",
                        hook.name());
            }
            state.tensors().forEach((key, value) -> all.put(prefix(hook) + key, value));
        }
        return all;
    }

    /** Restores the result of {@link #state}. Rejects state whose hook is missing. */
    public void restore(Map<String, Tensor> state) {
        Checkpoint stored = new Checkpoint(state, Map.of());
        Set<String> left = new TreeSet<>(state.keySet());
        for (Hook hook : members) {
            Map<String, Tensor> own = stored.below(prefix(hook));
            left.removeIf(name -> name.startsWith(prefix(hook)));
            if (!own.isEmpty()) {
                call(hook, "restore", each -> each.restore(new HookState(own)));
            }
        }
        if (!left.isEmpty()) {
            String name = left.iterator().next();
            throw SaccadeException.user(
                    "has the state of hook %s, but this run has no such hook; resume with"
                            + " this hook",
                    name.substring(0, name.indexOf(END_OF_NAME)));
        }
    }

    private static String prefix(Hook hook) {
        return hook.name() + END_OF_NAME;
    }

    private static void call(Hook hook, String event, Consumer<Hook> action) {
        named(
                hook.name(),
                event,
                () -> {
                    action.accept(hook);
                    return hook;
                });
    }

    /** Returns the result of an action. Errors other than SaccadeException name the hook. */
    private static <T> T named(String name, String event, Supplier<T> action) {
        try {
            return action.get();
        } catch (SaccadeException e) {
            throw e;
        } catch (RuntimeException | Error e) {
            throw OutOfMemory.TRAINING
                    .of(e)
                    .orElse(SaccadeException.user(e, "hook %s: failed in %s: %s", name, event, e));
        }
    }

    /** Closes all hooks, even if one throws. */
    @Override
    public void close() {
        close(0);
    }

    private void close(int first) {
        if (first < members.size()) {
            try {
                call(members.get(first), "close", Hook::close);
            } finally {
                close(first + 1);
            }
        }
    }
}

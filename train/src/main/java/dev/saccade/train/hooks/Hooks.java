package dev.saccade.train.hooks;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.Streams;

import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The hooks of a run in their order; what one throws names it. */
public final class Hooks implements AutoCloseable {

    /** Ends the name of a hook before that of a value; see {@link #requireNames}. */
    private static final char END_OF_NAME = ':';

    private final ImmutableList<Hook> members;

    /**
     * Calls hooks in an order.
     *
     * @throws SaccadeException of kind user, if one of them is null
     */
    public Hooks(List<? extends Hook> members) {
        for (int i = 0; i < members.size(); i++) {
            if (members.get(i) == null) {
                throw SaccadeException.user(
                        "hook %d of %d is null; expected a hook, or none at all",
                        i + 1, members.size());
            }
        }
        this.members = ImmutableList.copyOf(members);
    }

    /**
     * Makes the hooks that a config names.
     *
     * @throws SaccadeException that names the config of one that cannot be made; those before it
     *     are closed
     */
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
        return told(
                name,
                "build",
                () -> {
                    Hook hook = config.build();
                    if (hook == null) {
                        throw SaccadeException.user("hook %s: build returns null", name);
                    }
                    return hook;
                });
    }

    /**
     * Refuses names by which what hooks keep cannot be told apart.
     *
     * @throws SaccadeException of kind user that names the first hook of such a name
     */
    public void requireNames() {
        for (Hook hook : members) {
            String type = hook.getClass().getName();
            String name = told(type, "name", hook::name);
            if (name == null || name.indexOf(END_OF_NAME) >= 0) {
                throw SaccadeException.user(
                        "hook %s: its name is %s, expected one without a colon", type, name);
            }
        }
    }

    /** Returns these hooks and others after them. */
    public Hooks and(Hooks others) {
        return new Hooks(Streams.concat(members.stream(), others.members.stream()).toList());
    }

    /** See {@link Hook#beforeTrain}. */
    public void beforeTrain(Run run) {
        each("beforeTrain", hook -> hook.beforeTrain(run));
    }

    /** See {@link Hook#afterTrain}. */
    public void afterTrain(Run run) {
        each("afterTrain", hook -> hook.afterTrain(run));
    }

    /** See {@link Hook#beforeEpoch}. */
    public void beforeEpoch(Run run) {
        each("beforeEpoch", hook -> hook.beforeEpoch(run));
    }

    /** See {@link Hook#afterEpoch}. */
    public void afterEpoch(Run run) {
        each("afterEpoch", hook -> hook.afterEpoch(run));
    }

    /** See {@link Hook#beforeStep}. */
    public void beforeStep(Run run) {
        each("beforeStep", hook -> hook.beforeStep(run));
    }

    /**
     * See {@link Hook#afterStep}.
     *
     * @param step gives each hook the report with what those before it have added
     */
    public void afterStep(Run run, Supplier<StepReport> step) {
        each("afterStep", hook -> hook.afterStep(run, step.get()));
    }

    /** See {@link Hook#beforeEvaluation}. */
    public void beforeEvaluation(Run run) {
        each("beforeEvaluation", hook -> hook.beforeEvaluation(run));
    }

    /** See {@link Hook#afterEvaluation}. */
    public void afterEvaluation(Run run, EvaluationReport evaluation) {
        each("afterEvaluation", hook -> hook.afterEvaluation(run, evaluation));
    }

    /** See {@link Hook#evaluationInterrupted}. */
    public void evaluationInterrupted(Run run) {
        each("evaluationInterrupted", hook -> hook.evaluationInterrupted(run));
    }

    /** See {@link Hook#noted}. */
    public void noted(String line) {
        each("noted", hook -> hook.noted(line));
    }

    /**
     * Returns what all hooks keep in a checkpoint, by unique names.
     *
     * @throws SaccadeException of kind user, if two hooks of one name keep something
     */
    public Map<String, Tensor> state() {
        Map<String, Tensor> all = new LinkedHashMap<>();
        Map<String, Hook> owners = new HashMap<>();
        each(
                "save",
                hook -> {
                    HookState state = new HookState();
                    hook.save(state);
                    if (!state.tensors().isEmpty() && owners.put(hook.name(), hook) != null) {
                        throw SaccadeException.user(
                                "hook %s: there are two of that name that keep a state; give them"
                                        + " names of their own",
                                hook.name());
                    }
                    state.tensors().forEach((key, value) -> all.put(prefix(hook) + key, value));
                });
        return all;
    }

    /**
     * Gives the hooks back what {@link #state} has returned.
     *
     * @throws SaccadeException of kind user, if some of it is of a hook that is not there
     */
    public void restore(Map<String, Tensor> state) {
        Map<String, Tensor> left = new LinkedHashMap<>(state);
        each(
                "restore",
                hook -> {
                    Map<String, Tensor> own = new LinkedHashMap<>();
                    String prefix = prefix(hook);
                    state.forEach(
                            (name, tensor) -> {
                                if (name.startsWith(prefix)) {
                                    own.put(name.substring(prefix.length()), tensor);
                                }
                            });
                    left.keySet().removeIf(name -> name.startsWith(prefix));
                    if (!own.isEmpty()) {
                        hook.restore(new HookState(own));
                    }
                });
        if (!left.isEmpty()) {
            String name = left.keySet().iterator().next();
            throw SaccadeException.user(
                    "holds the state of hook %s, which this run does not have; resume it with that"
                            + " hook",
                    name.substring(0, name.indexOf(END_OF_NAME)));
        }
    }

    private static String prefix(Hook hook) {
        return hook.name() + END_OF_NAME;
    }

    private void each(String event, Consumer<Hook> action) {
        members.forEach(hook -> call(hook, event, action));
    }

    private static void call(Hook hook, String event, Consumer<Hook> action) {
        told(
                hook.name(),
                event,
                () -> {
                    action.accept(hook);
                    return hook;
                });
    }

    /** Names the hook whatever it throws: it is code of others, and may lack classes, too. */
    private static <T> T told(String name, String event, Supplier<T> action) {
        try {
            return action.get();
        } catch (SaccadeException e) {
            throw e;
        } catch (RuntimeException | Error e) {
            throw OutOfMemory.IN_TRAINING
                    .of(e)
                    .orElseGet(
                            () ->
                                    SaccadeException.user(
                                            e, "hook %s: failed in %s: %s", name, event, e));
        }
    }

    /** Closes all, even where one of them throws. */
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

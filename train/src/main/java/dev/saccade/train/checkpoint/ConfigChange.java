package dev.saccade.train.checkpoint;

import dev.saccade.config.Configs;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Transform;
import dev.saccade.train.config.DataConfig;
import dev.saccade.train.config.RunConfig;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Rejects config changes on resume that affect training. The run may become longer. Data location,
 * devices, ranks and accumulation (see {@link RunLayout}), logs, checkpoints, evaluation interval
 * and patience may change.
 */
public final class ConfigChange {

    private static final List<String> CHANGEABLE =
            List.of(
                    "epochs",
                    "iterations",
                    "init_from",
                    "accumulation",
                    "device",
                    "allow_tf32",
                    "log_interval",
                    "data.root",
                    "data.workers",
                    "checkpoint.",
                    "evaluation.every.",
                    "evaluation.patience");

    private static final List<String> PER_MACHINE =
            List.of("init_from", "device", "data.root", "data.workers");

    private static final List<String> LENGTH = List.of("epochs", "iterations", "accumulation");

    private static final String TYPE = ".type";

    private ConfigChange() {}

    /** Returns the settings that must be equal on all ranks, by dotted key. */
    public static Map<String, String> common(RunConfig config) {
        Map<String, String> flat = flat(config);
        flat.keySet().removeIf(key -> PER_MACHINE.stream().anyMatch(key::equals));
        return flat;
    }

    /** Returns the settings that affect training, by dotted key. */
    static Map<String, String> affectingTraining(RunConfig config) {
        Map<String, String> flat = flat(config);
        flat.keySet()
                .removeIf(
                        key ->
                                !LENGTH.contains(key)
                                        && CHANGEABLE.stream().anyMatch(key::startsWith));
        return flat;
    }

    /**
     * Rejects changes that affect training and lists all of them. If the type of a component has
     * changed, its other settings are not listed.
     */
    public static void require(RunConfig before, RunConfig now) {
        Map<String, String> old = flat(before);
        Map<String, String> changed = flat(now);
        TreeSet<String> keys = new TreeSet<>(old.keySet());
        keys.addAll(changed.keySet());
        keys.removeIf(key -> CHANGEABLE.stream().anyMatch(key::startsWith));
        keys.removeIf(key -> Objects.equals(old.get(key), changed.get(key)));
        List<String> others = keys.stream().filter(key -> key.endsWith(TYPE)).toList();
        keys.removeIf(key -> others.stream().anyMatch(type -> isOfComponent(key, type)));
        Problems problems = new Problems();
        for (String key : keys) {
            String from = old.getOrDefault(key, "unset");
            problems.add("%s: was %s, is %s", key, from, changed.getOrDefault(key, "unset"));
        }
        long was = before.iterations().orElse((long) before.epochs());
        long is = now.iterations().orElse((long) now.epochs());
        if (now.iterations().isPresent() != before.iterations().isPresent()) {
            problems.add("iterations: set in only one of the two configs");
        } else if (is < was) {
            String key = now.iterations().isPresent() ? "iterations" : "epochs";
            problems.add("%s: was %s, is %s; it may only increase", key, was, is);
        }
        if (!problems.isEmpty()) {
            throw SaccadeException.user(
                            "the run cannot be resumed because its config has"
                                    + " changed:%s%nstart a new run in another folder instead, with"
                                    + " init_from set to the checkpoint of this one",
                            problems)
                    .withSettings("out", "init-from");
        }
    }

    /** Returns whether {@code key} is another setting of the component whose type key is given. */
    private static boolean isOfComponent(String key, String type) {
        return !key.equals(type)
                && key.startsWith(type.substring(0, type.length() - TYPE.length() + 1));
    }

    private static Map<String, String> flat(RunConfig config) {
        Map<String, String> flat = new TreeMap<>(Configs.unbind(config).scalars());
        flat.keySet()
                .removeIf(key -> key.matches("data\\.(image_size|crop_size|.*_transforms)\\[.*"));
        DataConfig data = config.data();
        put(flat, "data.train_transforms", data.trainTransformsAtSize());
        put(flat, "data.val_transforms", data.valTransformsAtSize());
        return flat;
    }

    /** Adds the transforms with their final sizes, no matter which key sets the size. */
    private static void put(Map<String, String> flat, String key, List<Transform> transforms) {
        for (int i = 0; i < transforms.size(); i++) {
            String path = key + "[" + i + "].";
            Configs.unbind((Record) transforms.get(i))
                    .scalars()
                    .forEach((name, value) -> flat.put(path + name, value));
        }
    }
}

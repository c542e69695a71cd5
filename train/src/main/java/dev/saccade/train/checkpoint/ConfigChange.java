package dev.saccade.train.checkpoint;

import dev.saccade.config.ConfigNode;
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
 * What may change in the config of a run that is resumed: how long it lasts (upwards), where the
 * data lies, what computes and how its batches are parted ({@link RunLayout} sees to that), and how
 * it is read, told, saved and evaluated; nothing that learning depends on. Between ranks less may
 * differ.
 */
public final class ConfigChange {

    private static final List<String> FREE =
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

    private static final List<String> OF_A_MACHINE =
            List.of("init_from", "device", "data.root", "data.workers");

    private static final String TYPE = ".type";

    private ConfigChange() {}

    /** Returns the settings that must be the same on all ranks, by dotted key. */
    public static Map<String, String> common(RunConfig config) {
        Map<String, String> flat = flat(config);
        flat.keySet().removeIf(key -> OF_A_MACHINE.stream().anyMatch(key::equals));
        return flat;
    }

    /**
     * Refuses changes that would make the run another one. Where a part is another one, its
     * settings are not compared.
     *
     * @throws SaccadeException of kind user that lists all of them
     */
    public static void require(RunConfig before, RunConfig now) {
        Map<String, String> old = flat(before);
        Map<String, String> changed = flat(now);
        TreeSet<String> keys = new TreeSet<>(old.keySet());
        keys.addAll(changed.keySet());
        keys.removeIf(key -> FREE.stream().anyMatch(key::startsWith));
        keys.removeIf(key -> Objects.equals(old.get(key), changed.get(key)));
        List<String> others = keys.stream().filter(key -> key.endsWith(TYPE)).toList();
        keys.removeIf(key -> others.stream().anyMatch(type -> isOfPart(key, type)));
        Problems problems = new Problems();
        for (String key : keys) {
            String from = old.getOrDefault(key, "nothing");
            problems.add("%s: was %s, is %s", key, from, changed.getOrDefault(key, "nothing"));
        }
        long was = before.iterations().orElse((long) before.epochs());
        long is = now.iterations().orElse((long) now.epochs());
        if (now.iterations().isPresent() != before.iterations().isPresent()) {
            problems.add("iterations: given in one of the two only");
        } else if (is < was) {
            String key = now.iterations().isPresent() ? "iterations" : "epochs";
            problems.add("%s: was %s, is %s; it may only rise", key, was, is);
        }
        if (!problems.isEmpty()) {
            throw SaccadeException.user(
                            "the run cannot be resumed with another config than that in its folder:"
                                    + "%s%nstart a new run in another folder instead, with init_from"
                                    + " set to the checkpoint of this one",
                            problems)
                    .withSettings("out", "init-from");
        }
    }

    /** Returns whether a key is another one of the part that has this type. */
    private static boolean isOfPart(String key, String type) {
        return !key.equals(type)
                && key.startsWith(type.substring(0, type.length() - TYPE.length() + 1));
    }

    private static Map<String, String> flat(RunConfig config) {
        Map<String, String> flat = new TreeMap<>();
        flatten(Configs.unbind(config), "", flat);
        flat.keySet()
                .removeIf(key -> key.matches("data\\.(image_size|crop_size|.*_transforms)\\[.*"));
        DataConfig data = config.data();
        flattenTransforms("data.train_transforms", data.trainTransformsAtSize(), flat);
        flattenTransforms("data.val_transforms", data.valTransformsAtSize(), flat);
        return flat;
    }

    /** Transforms are the same at the same size, wherever that is stated. */
    private static void flattenTransforms(
            String path, List<Transform> transforms, Map<String, String> flat) {
        for (int i = 0; i < transforms.size(); i++) {
            flatten(Configs.unbind((Record) transforms.get(i)), path + "[" + i + "]", flat);
        }
    }

    private static void flatten(ConfigNode node, String path, Map<String, String> flat) {
        if (node instanceof ConfigNode.Mapping mapping) {
            mapping.entries()
                    .forEach(
                            (key, value) ->
                                    flatten(value, path.isEmpty() ? key : path + "." + key, flat));
        } else if (node instanceof ConfigNode.Sequence sequence) {
            for (int i = 0; i < sequence.items().size(); i++) {
                flatten(sequence.items().get(i), path + "[" + i + "]", flat);
            }
        } else if (node instanceof ConfigNode.Scalar scalar) {
            flat.put(path, scalar.value().toString());
        }
    }
}

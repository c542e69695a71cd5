package dev.saccade.train.extend;

import dev.saccade.config.ConfigNode;
import dev.saccade.config.Configs;
import dev.saccade.train.config.Interval;
import dev.saccade.train.config.RunConfig;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Derives the config of an extended run from the config of the run before. */
record ExtendedConfig(RunConfig old, Path weights) {

    /** Default limit, for few new images and long schedules. */
    private static final int MAX_EPOCHS = 100;

    private static final int EVALUATIONS = 3;
    private static final double WARMUP = 0.05;
    private static final double IGNORE_IOF = 0.5;

    /** Objects inside an ignored region must not match priors that they do not overlap. */
    private static final double MIN_POS_IOU = 0.01;

    /**
     * Returns the config of a run in a folder.
     *
     * @param steps minimum number of optimizer steps, unless there are too many epochs
     * @param wantedEpochs number of epochs instead
     */
    RunConfig of(ExtendedData data, Path run, long steps, Optional<Integer> wantedEpochs) {
        int perStep = old.imagesPerStep(1);
        int stepsPerEpoch = (data.epochSize() + perStep - 1) / perStep;
        int epochs =
                wantedEpochs.orElseGet(() -> (int) Math.min(MAX_EPOCHS, 1 + steps / stepsPerEpoch));
        Interval every = Interval.ofEpochs(Math.max(1, epochs / EVALUATIONS));
        Map<String, Object> settings = new LinkedHashMap<>();
        settings.put("data.root", ExtendedData.ROOT);
        settings.put("data.train", data.train(run));
        settings.put("data.val", data.val());
        settings.put("data.num_last_epochs", Math.min(old.data().numLastEpochs(), epochs));
        settings.put("init_from", weights.toString());
        settings.put("epochs", epochs);
        settings.put(
                "schedule",
                Map.of(
                        "type",
                        "cosine",
                        "warmup",
                        Map.of("iterations", (long) (WARMUP * epochs * stepsPerEpoch))));
        settings.put("evaluation.every", every);
        settings.put("checkpoint.every", every);
        settings.putAll(ignoring());
        RunConfig changed = old.with("iterations=null", "evaluation.patience=null");
        changed = changed.with("checkpoint.keep_every=null");
        return Configs.with(changed, settings.entrySet());
    }

    /** Returns settings with which all assigners ignore priors in ignored regions. */
    Map<String, Object> ignoring() {
        Map<String, Object> settings = new LinkedHashMap<>();
        addIgnoring("model", Configs.unbind(old.model()), settings);
        return settings;
    }

    private static void addIgnoring(String path, ConfigNode node, Map<String, Object> settings) {
        if (node instanceof ConfigNode.Sequence list) {
            for (int i = 0; i < list.items().size(); i++) {
                addIgnoring(path + "." + i, list.items().get(i), settings);
            }
        } else if (node instanceof ConfigNode.Mapping map) {
            if (number(map, "ignore_iof_thr") <= 0) {
                settings.put(path + ".ignore_iof_thr", IGNORE_IOF);
            }
            if (map.get("ignore_iof_thr").isPresent() && number(map, "min_pos_iou") < MIN_POS_IOU) {
                settings.put(path + ".min_pos_iou", MIN_POS_IOU);
            }
            map.entries().forEach((key, value) -> addIgnoring(path + "." + key, value, settings));
        }
    }

    /** Returns a number of a map; infinity if it is missing. */
    private static double number(ConfigNode.Mapping map, String key) {
        return map.get(key)
                .filter(ConfigNode.Scalar.class::isInstance)
                .map(value -> ((ConfigNode.Scalar) value).value())
                .filter(Number.class::isInstance)
                .map(value -> ((Number) value).doubleValue())
                .orElse(Double.POSITIVE_INFINITY);
    }
}

package dev.saccade.train;

import dev.saccade.core.Text;
import dev.saccade.core.parts.HeadConfig;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ObjectStatistics;
import dev.saccade.eval.Evaluator;
import dev.saccade.train.config.RunConfig;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.TreeMap;

/** Warnings about images with more objects than a run detects or evaluates. */
final class DetectionLimits {

    private DetectionLimits() {}

    /**
     * Returns the report of a data set with a warning for each limit that its images exceed.
     *
     * @param role {@code train} or {@code val}; only {@code val} is evaluated
     */
    static DatasetReport check(String role, DatasetReport report, RunConfig config) {
        if (!(report.statistics() instanceof ObjectStatistics held)) {
            return report;
        }
        List<Finding> warnings = new ArrayList<>();
        HeadConfig head = config.model().head();
        int objects = held.most().perImage();
        new TreeMap<>(head.objectLimits())
                .forEach(
                        (key, limit) -> {
                            if (objects > limit) {
                                warnings.add(detected(role, objects, "model.head." + key, limit));
                            }
                        });
        int ofClass = held.most().perImageAndClass();
        OptionalInt evaluated =
                config.evaluators().stream()
                        .map(Evaluator.Config::mostDetections)
                        .flatMapToInt(OptionalInt::stream)
                        .min();
        if (role.equals("val") && ofClass > evaluated.orElse(Integer.MAX_VALUE)) {
            warnings.add(evaluated(role, ofClass, evaluated.getAsInt()));
        }
        return report.withWarnings(warnings);
    }

    private static Finding detected(String role, int objects, String key, int limit) {
        return Finding.warning(
                "data." + role,
                "",
                Text.format(
                        "an image has %d objects, but %s is %d and the others are missed; expected"
                                + " at least %d",
                        objects, key, limit, objects));
    }

    private static Finding evaluated(String role, int objects, int limit) {
        return Finding.warning(
                "data." + role,
                "",
                Text.format(
                        "an image has %d objects of one class, but AP counts %d detections per"
                                + " image and class; set evaluation.evaluators: [{type: coco,"
                                + " max_dets: [1, 10, %d]}]",
                        objects, limit, objects));
    }
}

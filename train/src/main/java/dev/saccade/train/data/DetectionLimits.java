package dev.saccade.train.data;

import dev.saccade.core.Text;
import dev.saccade.core.components.HeadConfig;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ObjectStatistics;
import dev.saccade.eval.Evaluator;
import dev.saccade.train.config.RunConfig;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;

/** Warns about images with more objects than a run detects or evaluates. */
public final class DetectionLimits {

    private DetectionLimits() {}

    /** Returns the report with a warning for each limit that its images exceed. */
    public static DatasetReport check(String role, DatasetReport report, RunConfig config) {
        if (!(report.statistics() instanceof ObjectStatistics statistics)) {
            return report;
        }
        List<Finding> warnings = new ArrayList<>();
        HeadConfig head = config.model().head();
        int objects = statistics.maxObjects().perImage();
        for (Map.Entry<String, Integer> limit : new TreeMap<>(head.objectLimits()).entrySet()) {
            if (objects > limit.getValue()) {
                warnings.add(
                        warning(
                                role,
                                Text.format(
                                        "an image has %d objects, but model.head.%s"
                                                + " limits detections to %d; set it to at least %d",
                                        objects, limit.getKey(), limit.getValue(), objects)));
            }
        }
        int ofClass = statistics.maxObjects().perImageAndClass();
        OptionalInt evaluated =
                config.evaluators().stream()
                        .map(Evaluator.Config::maxDetections)
                        .flatMapToInt(OptionalInt::stream)
                        .min();
        if (role.equals("val") && ofClass > evaluated.orElse(Integer.MAX_VALUE)) {
            warnings.add(
                    warning(
                            role,
                            Text.format(
                                    "an image has %d objects of one class, but AP counts %d"
                                            + " detections per image and class; set"
                                            + " evaluation.evaluators: [{type: coco, max_dets: [1,"
                                            + " 10, %d]}]",
                                    ofClass, evaluated.getAsInt(), ofClass)));
        }
        return report.withWarnings(warnings);
    }

    private static Finding warning(String role, String message) {
        return Finding.warning("data." + role, "", message);
    }
}

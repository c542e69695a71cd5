package dev.saccade.serve;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.structures.ClassScores;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.models.ClassMap;
import dev.saccade.models.ClassScore;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.PredictionJson;

import java.util.List;
import java.util.Map;

/** Response for one image: entries of {@link PredictionJson}, or a problem (null on success). */
record ImageResponse(String image, Map<String, Object> entries, Problem problem) {

    static ImageResponse of(
            String image,
            UploadQueue.Predicted predicted,
            List<String> classes,
            PredictOptions options) {
        ImmutableMap.Builder<String, Object> entries = ImmutableMap.builder();
        if (predicted.prediction() instanceof LabelMap labels) {
            ClassMap map = new ClassMap(labels, classes);
            entries.putAll(PredictionJson.of(map, options.masks()::segmentation));
        } else if (predicted.prediction() instanceof ClassScores scores) {
            List<ClassScore> shown =
                    ClassScore.top(scores, classes, classes.size()).stream()
                            .filter(each -> each.score() >= options.scores().of(each.label()))
                            .toList();
            entries.putAll(PredictionJson.of(predicted.size(), shown));
        } else {
            Instances found = (Instances) predicted.prediction();
            List<DetectedObject> objects =
                    DetectedObject.of(options.scores().select(found, classes), classes);
            entries.putAll(
                    PredictionJson.of(predicted.size(), objects, options.masks()::segmentation));
        }
        if (!predicted.warnings().isEmpty()) {
            entries.put("warnings", predicted.warnings());
        }
        return new ImageResponse(image, entries.buildOrThrow(), null);
    }

    static ImageResponse of(String image, Problem problem) {
        return new ImageResponse(image, Map.of(), problem);
    }

    Map<String, Object> json() {
        ImmutableMap.Builder<String, Object> json = ImmutableMap.builder();
        json.put("image", image).putAll(entries);
        if (problem != null) {
            json.put("problem", problem);
        }
        return json.buildOrThrow();
    }
}

package dev.saccade.serve;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.models.ClassMap;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.PredictionJson;

import java.util.List;
import java.util.Map;

/**
 * Result for one image, an entry of the response's JSON array: {@link PredictionJson} or a problem.
 *
 * @param image file name
 * @param entries predictions; empty if there is a problem
 * @param problem null if the image was processed
 */
record Answer(String image, Map<String, Object> entries, Problem problem) {

    static Answer of(
            String image, Size size, Instances found, List<String> classes, Wanted wanted) {
        List<DetectedObject> objects =
                DetectedObject.of(wanted.scores().select(found, classes), classes);
        return new Answer(
                image, PredictionJson.of(size, objects, wanted.masks()::segmentation), null);
    }

    static Answer of(String image, LabelMap labels, List<String> classes, Wanted wanted) {
        ClassMap map = new ClassMap(labels, classes);
        return new Answer(image, PredictionJson.of(map, wanted.masks()::segmentation), null);
    }

    static Answer of(String image, Problem problem) {
        return new Answer(image, Map.of(), problem);
    }

    /** Returns the result with what of the image was not read or was completed, if anything. */
    Answer withWarnings(List<String> warnings) {
        Map<String, Object> more = warnings.isEmpty() ? Map.of() : Map.of("warnings", warnings);
        return new Answer(
                image,
                ImmutableMap.<String, Object>builder().putAll(entries).putAll(more).buildOrThrow(),
                problem);
    }

    /** Returns the JSON entry. */
    Map<String, Object> json() {
        ImmutableMap.Builder<String, Object> json = ImmutableMap.builder();
        json.put("image", image).putAll(entries);
        if (problem != null) {
            json.put("problem", problem);
        }
        return json.buildOrThrow();
    }
}

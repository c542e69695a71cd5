package dev.saccade.eval.labelerrors;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Suspected label errors as JSON, for label tools and scripts: {@code inspected_images} and {@code
 * suspects}, most suspicious first. Boxes are COCO's {@code [x, y, width, height]}.
 */
public final class LabelErrorsFile {

    public static final String NAME = "label_errors.json";

    private static final ObjectMapper JSON =
            new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    private LabelErrorsFile() {}

    /** Returns the content of the file. */
    public static String json(LabelErrors errors, Dataset dataset) {
        List<Map<String, Object>> suspects =
                errors.suspects().stream().map(error -> entry(error, dataset)).toList();
        Map<String, Object> content = new LinkedHashMap<>();
        content.put("inspected_images", errors.inspected());
        content.put("suspects", suspects);
        try {
            return JSON.writeValueAsString(content);
        } catch (JsonProcessingException e) {
            throw SaccadeException.internal(e, "label errors cannot be written as JSON");
        }
    }

    private static Map<String, Object> entry(LabelError error, Dataset dataset) {
        ImageFile image = dataset.image(error.image());
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("kind", error.kind().key());
        entry.put("score", error.score());
        entry.put("image_id", image.id());
        entry.put("file", image.file().toString());
        error.label()
                .ifPresent(
                        label -> {
                            entry.put("annotation_id", label.id());
                            entry.put("label_class", dataset.classes().get(label.label()));
                            entry.put("label_bbox", bbox(label.box()));
                        });
        error.prediction()
                .ifPresent(
                        prediction -> {
                            entry.put("predicted_class", dataset.classes().get(prediction.label()));
                            entry.put("predicted_score", prediction.score());
                            entry.put("predicted_bbox", bbox(prediction.box()));
                        });
        return entry;
    }

    private static List<Double> bbox(Annotation.Bbox box) {
        return List.of(box.x(), box.y(), box.width(), box.height());
    }
}

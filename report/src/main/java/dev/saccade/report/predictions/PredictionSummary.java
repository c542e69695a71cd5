package dev.saccade.report.predictions;

import com.fasterxml.jackson.databind.JsonNode;

import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.core.Text;
import dev.saccade.core.components.HeadConfig;
import dev.saccade.models.TrainedModel;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Counts images, objects and classes of predictions. */
public final class PredictionSummary {

    private static final int SHOWN_CLASSES = 6;

    private final TrainedModel<?> model;
    private final int limit;
    private final Set<String> labels = new TreeSet<>();
    private final Map<String, Integer> best = new TreeMap<>();
    private double bestScore;
    private long images;
    private long objects;
    private long full;

    public PredictionSummary(TrainedModel<?> model) {
        this.model = model;
        this.limit =
                model.spec()
                        .model()
                        .head()
                        .objectLimits()
                        .getOrDefault(HeadConfig.MAX_PER_IMG, Integer.MAX_VALUE);
    }

    /** Adds the JSON entry of an image or frame. */
    public void add(JsonNode entry) {
        images++;
        for (String kind : List.of("objects", "regions")) {
            entry.path(kind).forEach(each -> labels.add(each.get("label").asText()));
        }
        // Classes are sorted by score.
        if (entry.path("classes").has(0)) {
            JsonNode first = entry.path("classes").get(0);
            best.merge(first.get("label").asText(), 1, Integer::sum);
            bestScore = first.get("score").asDouble();
        }
        int size = entry.path("objects").size();
        objects += size;
        full += size >= limit ? 1 : 0;
    }

    public long images() {
        return images;
    }

    /**
     * Returns text such as "3 objects", "3 classes" of a segmenter, or "cat 2, dog 1" of a
     * classifier; for one image, "cat 0.98" with the probability.
     */
    public String text() {
        return model.match(
                detector -> Count.of(objects, "object"),
                segmenter -> Count.of(labels.size(), "class"),
                classifier -> bestClasses());
    }

    private String bestClasses() {
        if (images == 1 && !best.isEmpty()) {
            return Printable.format("%s %.2f", best.keySet().iterator().next(), bestScore);
        }
        String most =
                best.entrySet().stream()
                        .sorted(Collections.reverseOrder(Map.Entry.comparingByValue()))
                        .limit(SHOWN_CLASSES)
                        .map(each -> Printable.format("%s %d", each.getKey(), each.getValue()))
                        .collect(Collectors.joining(", "));
        return best.isEmpty()
                ? Count.of(0, "class")
                : most + (best.size() > SHOWN_CLASSES ? ", ..." : "");
    }

    /** Returns a note if images reach the limit on detections. */
    public Optional<String> note() {
        return full == 0
                ? Optional.empty()
                : Optional.of(
                        Text.format(
                                "%d of %s reach the limit of %d detections"
                                        + " (model.head.%s); objects may be missing",
                                full, Count.of(images, "image"), limit, HeadConfig.MAX_PER_IMG));
    }
}

package dev.saccade.report.predictions;

import com.fasterxml.jackson.databind.JsonNode;

import dev.saccade.core.Count;
import dev.saccade.core.Text;
import dev.saccade.core.components.HeadConfig;
import dev.saccade.models.TrainedModel;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Counts images, objects and classes of predictions. */
public final class PredictionSummary {

    private final boolean isDetector;
    private final int limit;
    private final Set<String> labels = new TreeSet<>();
    private long images;
    private long objects;
    private long full;

    public PredictionSummary(TrainedModel<?> model) {
        this.isDetector = model.match(detector -> true, segmenter -> false);
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
        int size = entry.path("objects").size();
        objects += size;
        full += size >= limit ? 1 : 0;
    }

    public long images() {
        return images;
    }

    /** Returns text such as "3 objects", or "3 classes" for a segmenter. */
    public String text() {
        return isDetector ? Count.of(objects, "object") : Count.of(labels.size(), "class");
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

package dev.saccade.report;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;

import java.util.stream.IntStream;

/** A validation image with its ground truth and the predictions of a run. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
@JsonSubTypes({
    @JsonSubTypes.Type(DetectionExample.class),
    @JsonSubTypes.Type(SegmentationExample.class),
    @JsonSubTypes.Type(ClassificationExample.class)
})
public sealed interface Example
        permits DetectionExample, SegmentationExample, ClassificationExample {

    String name();

    /** Returns an error score, higher for worse images; ignores detections below the threshold. */
    double errors(double threshold);

    /** Returns a summary such as "3 correct, 1 false positive, 0 missed". */
    String summary(double threshold);

    /** Returns whether predictions are drawn as ignored. */
    default boolean hasIgnored() {
        return false;
    }

    /** Returns the class indices to list in the legend. */
    IntStream legend();

    /** Writes the image with ground truth; {@link #writePredictions} refers to the image by id. */
    void writeTruth(Markup out, Examples all, String id);

    void writePredictions(Markup out, Examples all, String id);
}

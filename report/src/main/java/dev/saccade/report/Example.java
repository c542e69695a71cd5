package dev.saccade.report;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;

import java.util.stream.IntStream;

/** A validation image with its ground truth and the predictions of a run. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
@JsonSubTypes({
    @JsonSubTypes.Type(DetectionExample.class),
    @JsonSubTypes.Type(SegmentationExample.class)
})
public sealed interface Example permits DetectionExample, SegmentationExample {

    /** Returns the name of the image. */
    String name();

    /** Returns the size of the errors at a score threshold; images are sorted by it. */
    double mistakes(double threshold);

    /** Returns a summary of the errors. */
    String tally(double threshold);

    /** Returns the classes to list in the legend. */
    IntStream legend();

    /**
     * Writes the picture of the ground truth.
     *
     * @param all the examples on the page
     * @param id of the image, for {@link #writePredictions}
     */
    void writeTruth(Markup out, Examples all, String id);

    /** Writes the picture of the predictions. */
    void writePredictions(Markup out, Examples all, String id);
}

package dev.saccade.report;

/** A validation image with its ground truth and the predictions of a run. */
public sealed interface Example permits DetectionExample, SegmentationExample {

    /** Returns the name of the image. */
    String name();

    /** Returns the size of the errors at a score threshold; images are sorted by it. */
    double mistakes(double threshold);

    /** Returns a summary of the errors. */
    String tally(double threshold);
}

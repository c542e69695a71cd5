package dev.saccade.report;

import java.io.IOException;

/** Held-back pictures with what is on them and what was predicted. */
public sealed interface Examples permits DetectionExamples, SegmentationExamples {

    /** Returns whether there are none. */
    boolean isEmpty();

    /** Writes how to read the pictures, and the pictures. */
    void write(Markup out) throws IOException;
}

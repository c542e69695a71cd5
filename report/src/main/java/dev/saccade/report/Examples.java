package dev.saccade.report;

/** Held-back pictures with what is on them and what was predicted. */
public sealed interface Examples permits ObjectExamples, LabelExamples {

    /** Returns whether there are none. */
    boolean isEmpty();
}

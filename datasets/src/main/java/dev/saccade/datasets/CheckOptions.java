package dev.saccade.datasets;

import dev.saccade.core.parts.HeadConfig;
import dev.saccade.core.parts.TargetKind;
import dev.saccade.core.structures.LabelMap;

/**
 * How thoroughly a data set is looked at, and for what.
 *
 * @param decode whether photographs are decoded; otherwise only their headers and ends are read
 * @param targets what is learned, and so must be there
 * @param semanticClasses how many classes label maps beside objects may have, if they are learned
 * @param threads how many files are read at once
 * @param onImage called after each image, from the calling thread, to show progress
 */
public record CheckOptions(
        boolean decode, TargetKind targets, int semanticClasses, int threads, Runnable onImage) {

    /** Makes options that ask for no number of classes. */
    public CheckOptions(boolean decode, TargetKind targets, int threads, Runnable onImage) {
        this(decode, targets, LabelMap.MOST_CLASSES, threads, onImage);
    }

    /** Makes options for what a head learns. */
    public CheckOptions(boolean decode, HeadConfig head, int threads, Runnable onImage) {
        this(decode, head.targets(), head.semanticClasses(), threads, onImage);
    }

    /** Returns the options for photographs that are measured on, not learned from. */
    public CheckOptions measured() {
        return new CheckOptions(decode, targets.measured(), semanticClasses, threads, onImage);
    }
}

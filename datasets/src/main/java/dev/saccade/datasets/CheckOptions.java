package dev.saccade.datasets;

import dev.saccade.core.parts.HeadConfig;
import dev.saccade.core.parts.TargetKind;
import dev.saccade.core.structures.LabelMap;

import java.util.List;

/**
 * How thoroughly a data set is checked, and for what.
 *
 * @param depth what is read of images
 * @param targets what is trained, and so must be labeled
 * @param semanticClasses maximum number of classes of label maps beside objects, if trained
 * @param transforms of the images, for the size of objects in the model input; empty if unknown
 * @param files receives the files, to compare several data sets
 * @param threads number of files that are read at once
 * @param onImage called after each image, from the calling thread, to show progress
 */
public record CheckOptions(
        Depth depth,
        TargetKind targets,
        int semanticClasses,
        List<Transform> transforms,
        CheckedFiles files,
        int threads,
        Runnable onImage) {

    /** What is read of images. */
    public enum Depth {
        /** Nothing but the files of labels; of label maps the palettes. */
        LABELS,
        /** Headers and ends. */
        HEADERS,
        /** All pixels. */
        PIXELS
    }

    /** Keeps a copy of the list. */
    public CheckOptions {
        transforms = List.copyOf(transforms);
    }

    /** Creates options for any number of semantic classes. */
    public CheckOptions(Depth depth, TargetKind targets, int threads, Runnable onImage) {
        this(depth, targets, LabelMap.MAX_CLASSES, List.of(), CheckedFiles.NONE, threads, onImage);
    }

    /** Creates options that read pixels or headers. */
    public CheckOptions(boolean decode, TargetKind targets, int threads, Runnable onImage) {
        this(decode ? Depth.PIXELS : Depth.HEADERS, targets, threads, onImage);
    }

    /** Creates options for the targets of a head. */
    public CheckOptions(boolean decode, HeadConfig head, int threads, Runnable onImage) {
        this(
                decode ? Depth.PIXELS : Depth.HEADERS,
                head.targets(),
                head.semanticClasses(),
                List.of(),
                CheckedFiles.NONE,
                threads,
                onImage);
    }

    /** Returns the options for a data set that is evaluated, not trained on. */
    public CheckOptions forEvaluation() {
        return new CheckOptions(
                depth, targets.predicted(), semanticClasses, transforms, files, threads, onImage);
    }

    /** Returns the options for images that go through other transforms. */
    public CheckOptions with(List<Transform> others) {
        return new CheckOptions(depth, targets, semanticClasses, others, files, threads, onImage);
    }

    /** Returns the options that report files to another receiver. */
    public CheckOptions with(CheckedFiles receiver) {
        return new CheckOptions(
                depth, targets, semanticClasses, transforms, receiver, threads, onImage);
    }
}

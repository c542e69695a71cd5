package dev.saccade.datasets;

import dev.saccade.core.components.HeadConfig;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.image.PixelFormat;

import java.util.List;
import java.util.function.Consumer;

/**
 * Depth of a data set check, and the task to check for.
 *
 * @param depth how much of each image file is read
 * @param targets targets to train, which must be labeled
 * @param semanticClasses maximum number of label map classes; 0 if the model needs no label maps
 * @param transforms transforms of the images, for object sizes in the model input; empty if unknown
 * @param files receiver of all images and label maps, to compare several data sets
 * @param threads number of files read in parallel
 * @param onImage called after each image by the calling thread, to show progress
 * @param pixels channels and values of the images
 * @param statistics receives the values of each decoded image of another format than 8-bit RGB, by
 *     several threads
 */
public record CheckOptions(
        Depth depth,
        TargetKind targets,
        int semanticClasses,
        List<Transform> transforms,
        CheckedFiles files,
        int threads,
        Runnable onImage,
        PixelFormat pixels,
        Consumer<ChannelStatistics> statistics) {

    public enum Depth {
        /** Label files, the palettes of label maps, and whether image files exist. */
        LABELS,
        /** Headers and the end of each file. */
        HEADERS,
        PIXELS
    }

    public CheckOptions {
        transforms = List.copyOf(transforms);
    }

    /** Creates options for 8-bit RGB images. */
    public CheckOptions(
            Depth depth,
            TargetKind targets,
            int semanticClasses,
            List<Transform> transforms,
            CheckedFiles files,
            int threads,
            Runnable onImage) {
        this(
                depth,
                targets,
                semanticClasses,
                transforms,
                files,
                threads,
                onImage,
                PixelFormat.RGB,
                any -> {});
    }

    /** Creates options for any number of label map classes, without transforms or file receiver. */
    public CheckOptions(Depth depth, TargetKind targets, int threads, Runnable onImage) {
        this(depth, targets, LabelMap.MAX_CLASSES, List.of(), CheckedFiles.NONE, threads, onImage);
    }

    /** Creates options that decode pixels if {@code decode}, and otherwise read only headers. */
    public CheckOptions(boolean decode, TargetKind targets, int threads, Runnable onImage) {
        this(decode ? Depth.PIXELS : Depth.HEADERS, targets, threads, onImage);
    }

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

    public CheckOptions forEvaluation() {
        return new CheckOptions(
                depth,
                targets.predicted(),
                semanticClasses,
                transforms,
                files,
                threads,
                onImage,
                pixels,
                statistics);
    }

    /** Returns options that check label files only, not their images. */
    public CheckOptions ofLabelFiles() {
        return new CheckOptions(
                Depth.LABELS,
                targets,
                semanticClasses,
                List.of(),
                CheckedFiles.NONE,
                threads,
                () -> {});
    }

    public CheckOptions with(List<Transform> others) {
        return new CheckOptions(
                depth,
                targets,
                semanticClasses,
                others,
                files,
                threads,
                onImage,
                pixels,
                statistics);
    }

    public CheckOptions with(CheckedFiles receiver) {
        return new CheckOptions(
                depth,
                targets,
                semanticClasses,
                transforms,
                receiver,
                threads,
                onImage,
                pixels,
                statistics);
    }

    /** Returns options for images of another format. */
    public CheckOptions with(PixelFormat format, Consumer<ChannelStatistics> receiver) {
        return new CheckOptions(
                depth,
                targets,
                semanticClasses,
                transforms,
                files,
                threads,
                onImage,
                format,
                receiver);
    }
}

package dev.saccade.train.extend;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;

import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.datasets.combined.ConcatDataset;
import dev.saccade.datasets.combined.PartiallyLabeledDataset;
import dev.saccade.train.config.DataConfig;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Data sets of an extended run, with paths below the working directory.
 *
 * @param old data of the run before
 * @param labeled classes of which all objects in the new validation images are labeled
 * @param newImages number of new training images
 * @param replayedImages number of replayed images; 0 for none
 */
record ExtendedData(
        DataConfig old,
        NewData data,
        List<String> oldClasses,
        List<String> classes,
        Set<String> labeled,
        int newImages,
        int replayedImages) {

    /** Completed labels of the new training images, in the folder of the run. */
    static final String LABELS = "labels/new.json";

    /** Value of {@code data.root}. */
    static final Path ROOT = Path.of(".");

    ExtendedData {
        oldClasses = ImmutableList.copyOf(oldClasses);
        classes = ImmutableList.copyOf(classes);
        labeled = ImmutableSet.copyOf(labeled);
    }

    List<String> newClasses() {
        return classes.subList(oldClasses.size(), classes.size());
    }

    ExtendedData with(int newSize, int replayedSize) {
        return new ExtendedData(old, data, oldClasses, classes, labeled, newSize, replayedSize);
    }

    /**
     * Returns the training set of a run in a folder; new and replayed images occur equally often.
     */
    Dataset.Config train(Path run) {
        CocoDataset.Config fresh =
                new CocoDataset.Config(
                        run.resolve(LABELS).toString(),
                        data.root().resolve(data.train().images()).toString(),
                        List.of());
        if (replayedImages == 0) {
            return fresh;
        }
        CocoDataset.Config replayed =
                new CocoDataset.Config(
                        run.resolve(ReplayImages.LABELS).toString(),
                        run.resolve(ReplayImages.IMAGES).toString(),
                        List.of());
        return new ConcatDataset.Config(
                List.of(fresh, replayed), List.of(newRepeats(), replayRepeats()));
    }

    /** Returns the number of images of an epoch. */
    int epochSize() {
        return replayedImages == 0
                ? newImages
                : newImages * newRepeats() + replayedImages * replayRepeats();
    }

    private int newRepeats() {
        return Math.max(1, Math.round((float) replayedImages / newImages));
    }

    private int replayRepeats() {
        return Math.max(1, Math.round((float) newImages / replayedImages));
    }

    /** Returns the validation sets of the run before and of the new data. */
    Dataset.Config val() {
        return new ConcatDataset.Config(
                List.of(
                        new PartiallyLabeledDataset.Config(
                                old.val().orElseThrow(),
                                classes,
                                oldClasses,
                                Optional.of(old.root())),
                        new PartiallyLabeledDataset.Config(
                                data.val(),
                                classes,
                                ImmutableList.copyOf(labeled),
                                Optional.of(data.root()))),
                List.of());
    }
}

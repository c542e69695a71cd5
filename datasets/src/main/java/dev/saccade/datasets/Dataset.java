package dev.saccade.datasets;

import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.image.ImageReader;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Labeled images in a fixed order.
 *
 * <p>A custom data set implements {@link #classes}, {@link #images}, and {@link #annotations} for
 * objects, {@link #labels} for label maps or {@link #label} for classes of images. With objects and
 * label maps, implement both and {@link #semanticClasses}. The methods are called often, by many
 * threads, and must always return the same values. {@link ImageReader} decodes the images.
 */
public interface Dataset {

    /**
     * Paths and settings of a data set, and the factory that opens it.
     *
     * <p>For a custom data set, implement this with a record and list the record in a {@link
     * dev.saccade.core.components.ComponentProvider}.
     */
    interface Config extends ComponentConfig {

        /**
         * Opens the data set.
         *
         * @param root folder against which relative paths of this config are resolved
         * @throws SaccadeException if the files are missing or invalid; names file and position
         */
        Dataset open(Path root);

        /**
         * Checks the data set; reports faults in the result instead of throwing. Unless the data
         * set has other files to check, return {@code DatasetCheck.run(open(root), options)}.
         *
         * @param root folder against which relative paths of this config are resolved
         * @throws SaccadeException of kind user, if nothing can be checked, for example if the
         *     folder is missing
         */
        DatasetReport check(Path root, CheckOptions options);

        /** Returns whether images are repeated, so that only training is possible. */
        default boolean repeatsImages() {
            return false;
        }

        /**
         * Returns whether images lack labels of some classes, so that only evaluation is possible.
         */
        default boolean lacksLabels() {
            return false;
        }

        /** Returns the class names if known without reading files, as for COCO; otherwise empty. */
        default List<String> knownClasses() {
            return List.of();
        }
    }

    /** Returns the class names; a label is an index into this list. */
    List<String> classes();

    /** Returns the category id of a class in result files; {@code label + 1} by default. */
    default long categoryId(int label) {
        return label + 1L;
    }

    /** Returns the images; called for each access to an image, so return an existing list. */
    List<ImageFile> images();

    /** Returns the number of label map classes of an object data set; 0 without label maps. */
    default int semanticClasses() {
        return 0;
    }

    default int size() {
        return images().size();
    }

    default ImageFile image(int index) {
        return images().get(index);
    }

    /** Returns how many images an epoch of classification or segmentation has; all by default. */
    default int epochSize() {
        return size();
    }

    /** Returns the indices of an epoch, {@link #epochSize} of them, in random order. */
    default ImmutableIntArray shuffled(SplittableRandom random) {
        List<Integer> order = new ArrayList<>(IntStream.range(0, size()).boxed().toList());
        SeededRandom.shuffle(order, random);
        return ImmutableIntArray.copyOf(order);
    }

    /** Returns how often the same image occurs before {@code index}; 0 by default. */
    default int repetition(int index) {
        return 0;
    }

    /** Returns the objects of an image in the order of the file; empty without objects. */
    default List<Annotation> annotations(int index) {
        return List.of();
    }

    /** Returns the class index of an image; empty (the default) if only parts are labeled. */
    default OptionalInt label(int index) {
        return OptionalInt.empty();
    }

    /**
     * Reads and decodes the label map of an image; both have the same size.
     *
     * @throws SaccadeException if the data set has no label maps, or the label map is invalid
     */
    default LabelMap labels(int index) {
        throw SaccadeException.user(
                "%s: has labeled objects but no label map; train a detector, or use a data set with"
                        + " label maps",
                image(index).file());
    }
}

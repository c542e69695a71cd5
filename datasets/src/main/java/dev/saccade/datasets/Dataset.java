package dev.saccade.datasets;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.image.ImageReader;

import java.nio.file.Path;
import java.util.List;

/**
 * Labeled photographs in a fixed order.
 *
 * <p>One of one's own has three methods: {@link #classes}, {@link #images}, and {@link
 * #annotations} where objects are labeled or {@link #labels} where pixels are; with label maps
 * beside objects all four, and {@link #semanticClasses}. They are asked often, by many threads, and
 * always say the same. Reading the pixels of photographs is left to {@link ImageReader}.
 */
public interface Dataset {

    /**
     * Where a data set lies and how it is read, and what opens it.
     *
     * <p>To bring one of your own, implement this with a record and list the record in a {@link
     * dev.saccade.core.parts.PartProvider}.
     */
    interface Config extends PartConfig {

        /**
         * Returns the data set.
         *
         * @param root the folder that relative paths of this config start from
         * @throws SaccadeException if the files are missing or faulty; names file and place
         */
        Dataset open(Path root);

        /**
         * Returns what the data set holds and all that is wrong with it; nothing is thrown for it.
         * Unless its files are worth a look of their own, it is {@code DatasetCheck.run(open(root),
         * options)}.
         *
         * @param root the folder that relative paths of this config start from
         * @throws SaccadeException of kind user, if there is nothing to look at, such as no such
         *     folder
         */
        DatasetReport check(Path root, CheckOptions options);

        /**
         * Returns the names of the classes as far as they are known without the files, such as
         * those of COCO and ADE20K; none if only the files tell them.
         */
        default List<String> knownClasses() {
            return List.of();
        }
    }

    /** Returns the names of the classes; the label of a class is its position. */
    List<String> classes();

    /** Returns the id by which result files name a class; {@code label + 1} unless overridden. */
    default long categoryId(int label) {
        return label + 1L;
    }

    /**
     * Returns the photographs. It is called for each of them, so the list is there already; it may
     * make them as they are asked for.
     */
    List<ImageFile> images();

    /**
     * Returns how many classes the label maps have that there are beside objects, where they count
     * for themselves; 0 unless overridden, for objects without label maps, or label maps alone.
     */
    default int semanticClasses() {
        return 0;
    }

    /** Returns the number of photographs. */
    default int size() {
        return images().size();
    }

    /** Returns photograph {@code index}, from 0. */
    default ImageFile image(int index) {
        return images().get(index);
    }

    /**
     * Returns how many photographs before {@code index} are the same one: 0 unless the data set
     * shows some several times. Each time, a training draws anew what happens to it.
     */
    default int repetition(int index) {
        return 0;
    }

    /**
     * Returns the annotations of photograph {@code index} in the order of the file, maybe none;
     * none at all where pixels are labeled, not objects.
     */
    default List<Annotation> annotations(int index) {
        return List.of();
    }

    /**
     * Returns the class of every pixel of photograph {@code index}; read and decoded by each call.
     *
     * @return a map of the size of the photograph
     * @throws SaccadeException if objects are labeled, not pixels, or if the labels cannot be used
     */
    default LabelMap labels(int index) {
        throw SaccadeException.user(
                "%s: its objects are labeled, but its pixels are asked for", image(index).file());
    }
}

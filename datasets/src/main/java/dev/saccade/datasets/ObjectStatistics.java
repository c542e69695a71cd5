package dev.saccade.datasets;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Count;
import dev.saccade.core.Text;

import java.util.List;
import java.util.Map;

/**
 * Counts of a data set of labeled objects.
 *
 * @param imagesWithoutBoxes images without objects; valid, but not trained on
 * @param objects numbers of annotations, in total and of those used in training
 * @param maxObjects largest numbers of usable objects in one image
 * @param boxesPerClass number of annotations of each class, in the order of the labels
 * @param boxesPerSize number of annotations by {@code sqrt(width * height)}, ascending
 */
public record ObjectStatistics(
        int images,
        int imagesWithoutBoxes,
        Counts objects,
        Density maxObjects,
        Map<String, Integer> boxesPerClass,
        Map<String, Integer> boxesPerSize)
        implements DatasetStatistics {

    /**
     * Numbers of annotations.
     *
     * @param usable objects of a selected class for which no {@link DropReason} applies
     * @param trained usable objects in images of at least 32 x 32 pixels; training skips smaller
     *     images
     */
    public record Counts(int boxes, int crowds, int usable, int trained) {}

    /** The largest numbers of usable objects in one image: of all classes, and of one class. */
    public record Density(int perImage, int perImageAndClass) {}

    public ObjectStatistics {
        boxesPerClass = ImmutableMap.copyOf(boxesPerClass);
        boxesPerSize = ImmutableMap.copyOf(boxesPerSize);
    }

    @Override
    public List<String> classNames() {
        return ImmutableList.copyOf(boxesPerClass.keySet());
    }

    /** Returns why a data set has no usable object. */
    public static String emptyReason(int images, List<String> classNames) {
        if (images > 0 && !classNames.isEmpty()) {
            return Text.format(
                    "none of %s contains a %s",
                    Count.of(images, "image"), String.join(", a ", classNames));
        }
        String lacking =
                images > 0
                        ? "no categories"
                        : classNames.isEmpty() ? "no images and no categories" : "no images";
        return "the data set has " + lacking;
    }
}

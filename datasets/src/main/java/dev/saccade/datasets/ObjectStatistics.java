package dev.saccade.datasets;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Count;
import dev.saccade.core.Text;

import java.util.List;
import java.util.Map;

/**
 * What a data set of labeled objects holds.
 *
 * @param images number of images
 * @param imagesWithoutBoxes how many of them show nothing; they are no fault, but are not trained
 *     on
 * @param objects number of annotations
 * @param maxObjects the largest numbers of usable objects in one image
 * @param boxesPerClass by class, in the order of the labels
 * @param boxesPerSize by the square root of width times height, from small to large
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
     * How many objects there are, and of what kind.
     *
     * @param boxes number of annotations
     * @param crowds how many of them mark groups
     * @param usable how many of them can be learned and found: of a wanted class, at least a pixel
     *     wide and high, inside of their images, and neither a crowd nor ignored
     * @param trained how many of those are on photographs that are trained on, which have no side
     *     below 32 pixels
     */
    public record Counts(int boxes, int crowds, int usable, int trained) {}

    /**
     * The largest numbers of usable objects in one image.
     *
     * @param perImage of all classes
     * @param perImageAndClass of one class
     */
    public record Density(int perImage, int perImageAndClass) {}

    /** Keeps copies. */
    public ObjectStatistics {
        boxesPerClass = ImmutableMap.copyOf(boxesPerClass);
        boxesPerSize = ImmutableMap.copyOf(boxesPerSize);
    }

    @Override
    public List<String> classNames() {
        return ImmutableList.copyOf(boxesPerClass.keySet());
    }

    /** Returns why nothing in a data set can be learned or found, if it has no usable object. */
    public static String emptyReason(int images, List<String> classNames) {
        if (images > 0 && !classNames.isEmpty()) {
            return Text.format(
                    "none of %s shows a %s",
                    Count.of(images, "image"), String.join(", a ", classNames));
        }
        String lacking =
                images > 0
                        ? "no categories"
                        : classNames.isEmpty() ? "no images and no categories" : "no images";
        return "the data set has " + lacking;
    }
}

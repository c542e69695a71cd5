package dev.saccade.eval;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.ImmutableDoubleArray;
import com.google.common.primitives.ImmutableIntArray;
import com.google.common.primitives.ImmutableLongArray;

import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Segmentation;

import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The objects that a data set says are to be found, in columns.
 *
 * <p>Objects are numbered in the order of the data set; annotations of classes that are not wanted
 * are left out. Of the two marks an annotation can carry only {@code crowd} counts: COCO's own
 * evaluation overwrites {@code ignore}. Objects are told apart by their number, so an annotation
 * with the id 0 can be found, which pycocotools denies.
 */
public final class GroundTruth {

    private final List<String> classes;
    private final ImmutableLongArray imageIds;
    private final ImmutableIntArray images;
    private final ImmutableIntArray labels;
    private final ImmutableDoubleArray boxes;
    private final ImmutableDoubleArray areas;
    private final BitSet crowds;
    private final List<Rle> masks;

    private GroundTruth(
            List<String> classes,
            ImmutableLongArray imageIds,
            ImmutableIntArray images,
            ImmutableIntArray labels,
            ImmutableDoubleArray boxes,
            ImmutableDoubleArray areas,
            BitSet crowds,
            List<Rle> masks) {
        this.classes = classes;
        this.imageIds = imageIds;
        this.images = images;
        this.labels = labels;
        this.boxes = boxes;
        this.areas = areas;
        this.crowds = crowds;
        this.masks = masks;
    }

    /**
     * Returns the objects of a data set.
     *
     * @param iouType whether boxes or masks are evaluated; masks are rasterised only if they are
     * @throws SaccadeException naming all annotations whose mask cannot be read
     */
    public static GroundTruth of(Dataset dataset, IouType iouType) {
        ImmutableLongArray.Builder imageIds = ImmutableLongArray.builder(dataset.size());
        ImmutableIntArray.Builder images = ImmutableIntArray.builder();
        ImmutableIntArray.Builder labels = ImmutableIntArray.builder();
        ImmutableDoubleArray.Builder boxes = ImmutableDoubleArray.builder();
        ImmutableDoubleArray.Builder areas = ImmutableDoubleArray.builder();
        BitSet crowds = new BitSet();
        ImmutableList.Builder<Rle> masks = ImmutableList.builder();
        Problems problems = new Problems();
        int count = 0;
        for (int i = 0; i < dataset.size(); i++) {
            imageIds.add(dataset.photo(i).id());
            for (Annotation object : objects(dataset, i)) {
                images.add(i);
                labels.add(object.label());
                boxes.add(object.x()).add(object.y()).add(object.width()).add(object.height());
                areas.add(object.area());
                crowds.set(count++, object.crowd());
                if (iouType == IouType.MASK) {
                    masks.add(mask(object, dataset.photo(i).size(), problems));
                }
            }
        }
        problems.throwIfAny("masks of the ground truth");
        return new GroundTruth(
                ImmutableList.copyOf(dataset.classes()),
                imageIds.build(),
                images.build(),
                labels.build(),
                boxes.build(),
                areas.build(),
                crowds,
                masks.build());
    }

    /** Returns the annotations of an image that are objects: those of a wanted class. */
    static List<Annotation> objects(Dataset dataset, int index) {
        return dataset.annotations(index).stream().filter(a -> a.label() >= 0).toList();
    }

    private static Rle mask(Annotation object, Size size, Problems problems) {
        Segmentation outline = object.segmentation();
        try {
            if (outline instanceof Segmentation.Polygons polygons && !polygons.rings().isEmpty()) {
                return Rle.fromPolygons(size, polygons.rings());
            }
            if (outline instanceof Segmentation.Runs runs) {
                return Rle.fromString(runs.size(), runs.counts());
            }
            problems.add("annotation %d has no mask, needed for mask AP", object.id());
        } catch (SaccadeException e) {
            problems.add("annotation %d: %s", object.id(), e.getMessage());
        }
        return Rle.fromCounts(size, (int) size.area());
    }

    /** Throws if there are no classes, or detections of images or classes that are not here. */
    void checkKnows(Detections detections) {
        if (classes.isEmpty()) {
            throw SaccadeException.user("the data set has no classes, nothing can be measured");
        }
        Set<Long> images = new HashSet<>(imageIds.asList());
        Set<Long> strangeImages = new TreeSet<>();
        Set<Integer> strangeLabels = new TreeSet<>();
        for (int i = 0; i < detections.size(); i++) {
            if (!images.contains(detections.imageId(i))) {
                strangeImages.add(detections.imageId(i));
            }
            if (detections.label(i) < 0 || detections.label(i) >= classes.size()) {
                strangeLabels.add(detections.label(i));
            }
        }
        Problems problems = new Problems();
        if (!strangeImages.isEmpty()) {
            problems.add(
                    "%d image ids are not in the data set, the first is %d",
                    strangeImages.size(), strangeImages.iterator().next());
        }
        if (!strangeLabels.isEmpty()) {
            problems.add(
                    "the data set has %d classes, but there are detections of the labels %s",
                    classes.size(), strangeLabels);
        }
        problems.throwIfAny("detections");
    }

    /** Returns the names of the classes in the order of their labels. */
    public List<String> classes() {
        return classes;
    }

    /**
     * Returns the ids of all images in the order of the data set, also of those without objects.
     */
    public ImmutableLongArray imageIds() {
        return imageIds;
    }

    /** Returns the number of objects. */
    public int size() {
        return labels.length();
    }

    /** Returns the index of the image of an object in the data set. */
    public int image(int object) {
        return images.get(object);
    }

    /** Returns the class of an object. */
    public int label(int object) {
        return labels.get(object);
    }

    /** Returns whether an object is a group that was not separated. */
    public boolean crowd(int object) {
        return crowds.get(object);
    }

    /** Returns the pixels of an object as the data set states them. */
    double area(int object) {
        return areas.get(object);
    }

    /** Returns all boxes: x, y, width and height of each. */
    ImmutableDoubleArray boxes() {
        return boxes;
    }

    /** Returns the masks, none if boxes are evaluated. */
    List<Rle> masks() {
        return masks;
    }
}

package dev.saccade.eval.coco;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.Iterables;
import com.google.common.primitives.ImmutableDoubleArray;
import com.google.common.primitives.ImmutableIntArray;
import com.google.common.primitives.ImmutableLongArray;

import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.Segmentation;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The objects that a data set says are to be found, in columns.
 *
 * <p>Objects are numbered in the order of the data set; annotations of classes that are not wanted
 * are left out. Of the two marks an annotation can carry only {@code crowd} counts: COCO's own
 * evaluation overwrites {@code ignore}. Objects are told apart by their number, so an annotation
 * with the id 0 can be found, which pycocotools denies.
 */
public final class GroundTruth {

    /** So many faulty images, labels or annotations are named in a message. */
    private static final int MOST_NAMED = 10;

    private final List<String> classes;
    private final ImmutableLongArray categoryIds;
    private final ImmutableLongArray imageIds;
    private final List<Size> imageSizes;
    private final ImmutableIntArray images;
    private final ImmutableIntArray labels;
    private final ImmutableDoubleArray boxes;
    private final ImmutableDoubleArray areas;
    private final BitSet crowds = new BitSet();
    private final List<Rle> masks;

    private GroundTruth(Dataset dataset, IouType iouType, Consumer<String> faults) {
        ImmutableIntArray.Builder imageOf = ImmutableIntArray.builder();
        ImmutableIntArray.Builder labelOf = ImmutableIntArray.builder();
        ImmutableDoubleArray.Builder boxOf = ImmutableDoubleArray.builder();
        ImmutableDoubleArray.Builder areaOf = ImmutableDoubleArray.builder();
        ImmutableList.Builder<Rle> maskOf = ImmutableList.builder();
        int count = 0;
        int labels = dataset.classes().size();
        for (int i = 0; i < dataset.size(); i++) {
            ImageFile photo = dataset.image(i);
            for (Annotation object : objects(dataset, i)) {
                if (object.label() >= labels) {
                    faults.accept(
                            Text.format(
                                    "%s: annotation %d: label %d of %d classes",
                                    photo.file(), object.id(), object.label(), labels));
                }
                imageOf.add(i);
                labelOf.add(object.label());
                Annotation.Bbox box = object.box();
                boxOf.add(box.x()).add(box.y()).add(box.width()).add(box.height());
                areaOf.add(object.area());
                crowds.set(count++, object.crowd());
                if (iouType == IouType.MASK) {
                    maskOf.add(mask(object, photo, faults));
                }
            }
        }
        this.classes = ImmutableList.copyOf(dataset.classes());
        IntStream classIndices = IntStream.range(0, labels);
        this.categoryIds = ImmutableLongArray.copyOf(classIndices.mapToLong(dataset::categoryId));
        List<ImageFile> photos =
                IntStream.range(0, dataset.size()).mapToObj(dataset::image).toList();
        this.imageIds = ImmutableLongArray.copyOf(photos.stream().mapToLong(ImageFile::id));
        this.imageSizes = photos.stream().map(ImageFile::size).toList();
        this.images = imageOf.build();
        this.labels = labelOf.build();
        this.boxes = boxOf.build();
        this.areas = areaOf.build();
        this.masks = maskOf.build();
    }

    /**
     * Returns the objects of a data set.
     *
     * @param iouType whether boxes or masks are evaluated; masks are rasterized only if they are
     * @throws SaccadeException of kind user that names annotations of no class and, if masks are
     *     evaluated, those without a usable mask
     */
    public static GroundTruth collect(Dataset dataset, IouType iouType) {
        List<String> faults = new ArrayList<>();
        GroundTruth groundTruth = new GroundTruth(dataset, iouType, faults::add);
        Problems problems = new Problems();
        faults.stream().limit(MOST_NAMED).forEach(fault -> problems.add("%s", fault));
        if (faults.size() > MOST_NAMED) {
            problems.add("and %d more", faults.size() - MOST_NAMED);
        }
        problems.throwIfAny("ground truth");
        return groundTruth;
    }

    /** Returns the annotations of an image that are objects: those of a wanted class. */
    public static List<Annotation> objects(Dataset dataset, int index) {
        return dataset.annotations(index).stream().filter(a -> a.label() >= 0).toList();
    }

    private static Rle mask(Annotation object, ImageFile photo, Consumer<String> faults) {
        String subject = photo.file() + ": annotation " + object.id();
        try {
            if (object.segmentation() instanceof Segmentation.None) {
                faults.accept(subject + " has no mask, needed for mask AP");
            }
            return object.segmentation().mask(photo.size());
        } catch (SaccadeException e) {
            faults.accept(subject + ": " + e.getMessage());
            return new Segmentation.None().mask(photo.size());
        }
    }

    /** Throws if there are no classes, or detections that do not belong to these images. */
    public void checkKnows(CocoDetections detections) {
        if (classes.isEmpty()) {
            throw SaccadeException.user("the data set has no classes, nothing can be measured");
        }
        Map<Long, Size> sizes = new HashMap<>();
        for (int i = 0; i < imageIds.length(); i++) {
            sizes.put(imageIds.get(i), imageSizes.get(i));
        }
        Set<Long> strangeImages = new TreeSet<>();
        Set<Integer> strangeLabels = new TreeSet<>();
        Set<Long> otherSizes = new TreeSet<>();
        for (int i = 0; i < detections.size(); i++) {
            long imageId = detections.imageId(i);
            Optional<Rle> mask = detections.mask(i);
            if (!sizes.containsKey(imageId)) {
                strangeImages.add(imageId);
            } else if (mask.isPresent() && !mask.get().size().equals(sizes.get(imageId))) {
                otherSizes.add(imageId);
            }
            if (detections.label(i) < 0 || detections.label(i) >= classes.size()) {
                strangeLabels.add(detections.label(i));
            }
        }
        Problems problems = new Problems();
        addProblem(problems, "image ids are not in the data set", strangeImages);
        addProblem(problems, "images have masks of another size than theirs", otherSizes);
        addProblem(problems, "labels are not those of the classes", strangeLabels);
        problems.throwIfAny("detections");
    }

    private static void addProblem(Problems problems, String what, Set<? extends Number> which) {
        if (!which.isEmpty()) {
            problems.add("%d %s: %s", which.size(), what, Iterables.limit(which, MOST_NAMED));
        }
    }

    /** Returns the names of the classes in the order of their labels. */
    public List<String> classes() {
        return classes;
    }

    /** Returns the id by which result files name a class. */
    long categoryId(int label) {
        return categoryIds.get(label);
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

    /** Returns the largest number of objects of one class in one image; crowds do not count. */
    public int mostPerImageAndClass() {
        return IntStream.range(0, size())
                .filter(object -> !crowd(object))
                .mapToObj(object -> List.of(image(object), label(object)))
                .collect(Collectors.groupingBy(key -> key, Collectors.counting()))
                .values()
                .stream()
                .mapToInt(Long::intValue)
                .max()
                .orElse(0);
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

package dev.saccade.eval.coco;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.Iterables;
import com.google.common.collect.Multiset;

import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
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

/**
 * Objects of a data set that belong to its classes. As in COCOeval, the {@code crowd} flag is used
 * and the {@code ignore} flag is not. Unlike in pycocotools, an annotation with id 0 can be
 * matched.
 */
public final class GroundTruth {

    /** Maximum number of ids listed in a message. */
    private static final int MAX_LISTED = 10;

    private final Dataset dataset;
    private final List<Annotation> objects = new ArrayList<>();
    private final List<Integer> images = new ArrayList<>();
    private final BitSet crowds = new BitSet();
    private final List<Rle> masks = new ArrayList<>();

    private GroundTruth(Dataset dataset, IouType iouType, Problems problems) {
        this.dataset = dataset;
        int labels = classes().size();
        for (int i = 0; i < dataset.size(); i++) {
            ImageFile image = dataset.image(i);
            for (Annotation object : objects(dataset, i)) {
                if (object.label() >= labels) {
                    problems.add(
                            "%s: annotation %d: got class index %d, expected less than %d",
                            image.file(), object.id(), object.label(), labels);
                }
                crowds.set(objects.size(), object.crowd());
                objects.add(object);
                images.add(i);
                if (iouType == IouType.MASK) {
                    masks.add(mask(object, image, problems));
                }
            }
        }
    }

    /**
     * Returns the objects of a data set; masks are rasterized only for {@link IouType#MASK}.
     *
     * @throws SaccadeException of kind user that lists annotations with an unknown class, or
     *     without a valid mask for {@link IouType#MASK}
     */
    public static GroundTruth collect(Dataset dataset, IouType iouType) {
        Problems problems = new Problems();
        GroundTruth groundTruth = new GroundTruth(dataset, iouType, problems);
        problems.throwIfAny("ground truth");
        return groundTruth;
    }

    /** Returns the annotations of an image that belong to a class of the data set. */
    public static List<Annotation> objects(Dataset dataset, int index) {
        return dataset.annotations(index).stream().filter(a -> a.label() >= 0).toList();
    }

    private static Rle mask(Annotation object, ImageFile image, Problems problems) {
        String subject = image.file() + ": annotation " + object.id();
        try {
            if (object.segmentation() instanceof Segmentation.None) {
                problems.add("%s has no mask; mask AP needs one for every object", subject);
            }
            return object.segmentation().mask(image.size());
        } catch (SaccadeException e) {
            problems.add("%s: %s", subject, e.getMessage());
            return new Segmentation.None().mask(image.size());
        }
    }

    /** Throws if there are no classes, or if a detection has a wrong image, class or mask size. */
    public void requireMatching(CocoDetections detections) {
        int classes = classes().size();
        if (classes == 0) {
            throw SaccadeException.user(
                    "the data set has no classes; add categories to its" + " annotations");
        }
        Map<Long, Size> sizes = new HashMap<>();
        dataset.images().forEach(image -> sizes.put(image.id(), image.size()));
        Set<Long> unknownImages = new TreeSet<>();
        Set<Integer> unknownLabels = new TreeSet<>();
        Set<Long> otherSizes = new TreeSet<>();
        for (int i = 0; i < detections.size(); i++) {
            long imageId = detections.imageId(i);
            Optional<Rle> mask = detections.mask(i);
            if (!sizes.containsKey(imageId)) {
                unknownImages.add(imageId);
            } else if (mask.isPresent() && !mask.get().size().equals(sizes.get(imageId))) {
                otherSizes.add(imageId);
            }
            if (detections.label(i) < 0 || detections.label(i) >= classes) {
                unknownLabels.add(detections.label(i));
            }
        }
        Problems problems = new Problems();
        addProblem(problems, "image ids are not in the data set", unknownImages);
        addProblem(problems, "images have masks of a different size", otherSizes);
        addProblem(problems, "class indices are out of range", unknownLabels);
        problems.throwIfAny("detections");
    }

    private static void addProblem(Problems problems, String what, Set<? extends Number> which) {
        if (!which.isEmpty()) {
            problems.add("%d %s: %s", which.size(), what, Iterables.limit(which, MAX_LISTED));
        }
    }

    public List<String> classes() {
        return dataset.classes();
    }

    /** Returns the id of a class in result files. */
    long categoryId(int label) {
        return dataset.categoryId(label);
    }

    public int imageCount() {
        return dataset.size();
    }

    long imageId(int image) {
        return dataset.image(image).id();
    }

    public int size() {
        return objects.size();
    }

    /** Returns the largest number of objects of one class in one image, without crowds. */
    public int maxPerImageAndClass() {
        Multiset<List<Integer>> counts = HashMultiset.create();
        for (int object = 0; object < size(); object++) {
            if (!crowd(object)) {
                counts.add(List.of(image(object), label(object)));
            }
        }
        return counts.entrySet().stream().mapToInt(Multiset.Entry::getCount).max().orElse(0);
    }

    public Annotation object(int object) {
        return objects.get(object);
    }

    /** Returns the image index of an object. */
    public int image(int object) {
        return images.get(object);
    }

    /** Returns the class index of an object. */
    public int label(int object) {
        return objects.get(object).label();
    }

    public boolean crowd(int object) {
        return crowds.get(object);
    }

    /** Returns the masks; empty if boxes are evaluated. */
    List<Rle> masks() {
        return masks;
    }
}

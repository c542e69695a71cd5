package dev.saccade.configgen;

import com.google.common.collect.ArrayListMultimap;
import com.google.common.collect.ListMultimap;
import com.google.common.collect.Multimaps;

import dev.saccade.core.ProgressBar;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Segmentation;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * The properties of a data set that its config depends on. Reading them decodes no 8-bit RGB image.
 *
 * @param targets label maps, classes of images, or masks if all objects have an outline, else boxes
 * @param longEdge median of the longer image edges in pixels
 * @param shortEdge median of the shorter image edges in pixels
 * @param perClass objects per class, or images per class; empty for label maps
 * @param smallObject square root of a small object's box area in pixels: the 10th percentile, or
 *     the median of the class with the smallest objects if that is less; 0 without objects
 * @param mostObjects largest number of objects in an image of either split
 * @param stored channels and values of images that are not decoded to 8-bit RGB
 */
public record DatasetContents(
        TargetKind targets,
        int images,
        int longEdge,
        int shortEdge,
        Map<String, Integer> perClass,
        double smallObject,
        int mostObjects,
        Optional<StoredPixels> stored) {

    private static final int SAMPLED_SIZES = 200;
    private static final double SMALL_QUANTILE = 0.1;
    private static final int IMBALANCE = 10;

    /** Describes a data set of 8-bit RGB images. */
    public DatasetContents(
            TargetKind targets,
            int images,
            int longEdge,
            int shortEdge,
            Map<String, Integer> perClass,
            double smallObject,
            int mostObjects) {
        this(
                targets,
                images,
                longEdge,
                shortEdge,
                perClass,
                smallObject,
                mostObjects,
                Optional.empty());
    }

    /** Reads the labels of a folder. */
    public static DatasetContents of(LabeledFolder folder) {
        return of(folder, ProgressBar.NONE);
    }

    /** Reads the labels of a folder; opens a bar if values of images are read. */
    public static DatasetContents of(LabeledFolder folder, ProgressBar.Factory bars) {
        Dataset data = folder.train().open(folder.root());
        TargetKind targets = folder.targets();
        int evaluated = folder.val().map(val -> maxObjects(val.open(folder.root()))).orElse(0);
        List<Integer> longEdges = new ArrayList<>();
        List<Integer> shortEdges = new ArrayList<>();
        int step = Math.max(1, data.size() / SAMPLED_SIZES);
        for (int i = 0; i < data.size(); i += step) {
            Size size = data.image(i).size();
            longEdges.add(Math.max(size.height(), size.width()));
            shortEdges.add(Math.min(size.height(), size.width()));
        }
        Map<String, Integer> perClass = new LinkedHashMap<>();
        ListMultimap<Integer, Double> edges = ArrayListMultimap.create();
        if (targets != TargetKind.LABEL_MAPS) {
            data.classes().forEach(name -> perClass.put(name, 0));
        }
        if (targets == TargetKind.CLASSES) {
            addImages(data, perClass);
        } else if (targets == TargetKind.BOXES) {
            boolean outlined = addObjects(data, perClass, edges);
            targets = outlined && !edges.isEmpty() ? TargetKind.MASKS : TargetKind.BOXES;
        }
        return new DatasetContents(
                targets,
                data.size(),
                (int) quantile(longEdges, 0.5),
                (int) quantile(shortEdges, 0.5),
                Collections.unmodifiableMap(perClass),
                small(edges),
                Math.max(maxObjects(data), evaluated),
                StoredPixels.of(
                        IntStream.range(0, data.size())
                                .mapToObj(i -> data.image(i).file())
                                .toList(),
                        bars));
    }

    private static void addImages(Dataset data, Map<String, Integer> perClass) {
        for (int i = 0; i < data.size(); i++) {
            data.label(i)
                    .ifPresent(label -> perClass.merge(data.classes().get(label), 1, Integer::sum));
        }
    }

    /** Adds objects to {@code perClass} and {@code edges}; returns whether all have an outline. */
    private static boolean addObjects(
            Dataset data, Map<String, Integer> perClass, ListMultimap<Integer, Double> edges) {
        boolean outlined = true;
        for (int i = 0; i < data.size(); i++) {
            for (Annotation object : data.annotations(i)) {
                if (counts(object)) {
                    perClass.merge(data.classes().get(object.label()), 1, Integer::sum);
                    outlined &= !(object.segmentation() instanceof Segmentation.None);
                    edges.put(object.label(), Math.sqrt(object.box().area()));
                }
            }
        }
        return outlined;
    }

    private static int maxObjects(Dataset data) {
        long max = 0;
        for (int i = 0; i < data.size(); i++) {
            max =
                    Math.max(
                            max,
                            data.annotations(i).stream().filter(DatasetContents::counts).count());
        }
        return (int) max;
    }

    private static boolean counts(Annotation object) {
        return object.label() >= 0 && !object.crowd() && object.box().area() > 0;
    }

    private static double small(ListMultimap<Integer, Double> edges) {
        return Multimaps.asMap(edges).values().stream()
                .mapToDouble(ofClass -> quantile(ofClass, 0.5))
                .reduce(quantile(edges.values(), SMALL_QUANTILE), Math::min);
    }

    private static double quantile(Collection<? extends Number> values, double fraction) {
        double[] sorted = values.stream().mapToDouble(Number::doubleValue).sorted().toArray();
        return sorted.length == 0 ? 0 : sorted[(int) (fraction * (sorted.length - 1))];
    }

    /** Returns the limit on detections per image; empty if the default is high enough. */
    public OptionalInt raisedLimit() {
        ObjectLimits limits = new ObjectLimits(mostObjects);
        return limits.isDense() ? OptionalInt.of(limits.detections()) : OptionalInt.empty();
    }

    /** Returns the rarest class, if it has less than a tenth of the images of the largest. */
    Optional<String> rareClass() {
        Optional<Map.Entry<String, Integer>> rarest =
                perClass.entrySet().stream()
                        .filter(each -> each.getValue() > 0)
                        .min(Map.Entry.comparingByValue());
        int most = perClass.values().stream().mapToInt(Integer::intValue).max().orElse(0);
        return rarest.filter(each -> each.getValue() * IMBALANCE < most).map(Map.Entry::getKey);
    }

    public int objects() {
        return perClass.values().stream().mapToInt(Integer::intValue).sum();
    }
}

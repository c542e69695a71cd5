package dev.saccade.configgen;

import com.google.common.collect.ArrayListMultimap;
import com.google.common.collect.ListMultimap;
import com.google.common.collect.Multimaps;

import dev.saccade.core.parts.TargetKind;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Segmentation;
import dev.saccade.datasets.ade20k.Ade20kDataset;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * What a data set holds, as far as a config depends on it. No photograph is decoded.
 *
 * @param targets masks, if all objects have an outline
 * @param photographs how many there are
 * @param longEdge of a photograph, the median in pixels
 * @param shortEdge likewise
 * @param perClass objects of each class; empty where pixels are labeled
 * @param smallObject the square root of width times height of objects that are small here, in
 *     pixels: what nine of ten have at least, or half of those of the smallest class; 0 without
 *     objects
 * @param mostObjects the largest number of objects in an image to train or evaluate on
 */
public record Contents(
        TargetKind targets,
        int photographs,
        int longEdge,
        int shortEdge,
        Map<String, Integer> perClass,
        double smallObject,
        int mostObjects) {

    /** Sizes of so many photographs are as good as those of all. */
    private static final int SIZES_LOOKED_AT = 200;

    private static final double SMALL = 0.1;

    /**
     * Returns the contents of a folder; only {@link #mostObjects} includes the part that is
     * evaluated.
     */
    public static Contents of(LabeledFolder folder) {
        Dataset train = folder.train().open(folder.root());
        int evaluated = folder.val().map(val -> most(val.open(folder.root()))).orElse(0);
        return of(train, Math.max(most(train), evaluated));
    }

    /** Returns the limit on detections per image, if the default is too low for the images. */
    public OptionalInt raisedLimit() {
        Limits limits = new Limits(mostObjects);
        return limits.isDense() ? OptionalInt.of(limits.detections()) : OptionalInt.empty();
    }

    private static int most(Dataset data) {
        return IntStream.range(0, data.size())
                .map(i -> (int) data.annotations(i).stream().filter(Contents::counts).count())
                .max()
                .orElse(0);
    }

    private static boolean counts(Annotation object) {
        return object.label() >= 0 && !object.crowd() && object.box().area() > 0;
    }

    private static Contents of(Dataset data, int mostObjects) {
        List<Integer> longEdges = new ArrayList<>();
        List<Integer> shortEdges = new ArrayList<>();
        int step = Math.max(1, data.size() / SIZES_LOOKED_AT);
        for (int i = 0; i < data.size(); i += step) {
            Size size = data.image(i).size();
            longEdges.add(Math.max(size.height(), size.width()));
            shortEdges.add(Math.min(size.height(), size.width()));
        }
        boolean labelsPixels = data instanceof Ade20kDataset;
        Map<String, Integer> perClass = new LinkedHashMap<>();
        if (!labelsPixels) {
            data.classes().forEach(name -> perClass.put(name, 0));
        }
        ListMultimap<Integer, Double> edges = ArrayListMultimap.create();
        boolean outlined = true;
        for (int i = 0; i < data.size() && !labelsPixels; i++) {
            for (Annotation object : data.annotations(i)) {
                if (!counts(object)) {
                    continue;
                }
                perClass.merge(data.classes().get(object.label()), 1, Integer::sum);
                outlined &= !(object.segmentation() instanceof Segmentation.None);
                edges.put(object.label(), Math.sqrt(object.box().area()));
            }
        }
        TargetKind objects = outlined && !edges.isEmpty() ? TargetKind.MASKS : TargetKind.BOXES;
        return new Contents(
                labelsPixels ? TargetKind.LABEL_MAPS : objects,
                data.size(),
                quantile(longEdges, 0.5).intValue(),
                quantile(shortEdges, 0.5).intValue(),
                Collections.unmodifiableMap(perClass),
                small(edges),
                mostObjects);
    }

    /** Rare classes count as much as common ones, whose objects may be much larger. */
    private static double small(ListMultimap<Integer, Double> edges) {
        double all = quantile(new ArrayList<>(edges.values()), SMALL).doubleValue();
        return Multimaps.asMap(edges).values().stream()
                .mapToDouble(ofClass -> quantile(new ArrayList<>(ofClass), 0.5).doubleValue())
                .reduce(all, Math::min);
    }

    private static <N extends Number & Comparable<N>> Number quantile(
            List<N> values, double share) {
        if (values.isEmpty()) {
            return 0;
        }
        Collections.sort(values);
        return values.get((int) (share * (values.size() - 1)));
    }

    /** Returns the number of objects. */
    public int objects() {
        return perClass.values().stream().mapToInt(Integer::intValue).sum();
    }
}

package dev.saccade.serve;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.google.common.collect.ImmutableList;

import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.models.Box;
import dev.saccade.models.ClassMap;
import dev.saccade.models.DetectedObject;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What is told of a photograph: either what was seen in it, in the words of {@code
 * predictions.json}, or what is wrong with it.
 *
 * @param name of its file; null where a request is one photograph
 * @param width in pixels, upright
 * @param height in pixels, upright
 * @param objects best first; null of a segmenter
 * @param regions largest first; null of a detector
 * @param problem null unless it cannot be used
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record Answer(
        String name,
        Integer width,
        Integer height,
        List<Found> objects,
        List<Region> regions,
        Problem problem) {

    /**
     * An object.
     *
     * @param label the name of its class
     * @param score from 0 to 1
     * @param box x, y, width and height in pixels
     * @param segmentation its pixels; null where the detector tells none, or none are wanted
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Found(String label, float score, List<Float> box, Object segmentation) {}

    /**
     * A class that is seen.
     *
     * @param label its name
     * @param pixels how many are of it
     * @param share of all pixels, above 0 to 1
     * @param segmentation its pixels; null where none are wanted
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Region(String label, long pixels, double share, Object segmentation) {}

    static Answer of(Size size, Instances found, List<String> classes, Wanted wanted) {
        List<Found> objects =
                DetectedObject.of(found, classes).stream()
                        .filter(object -> object.score() >= wanted.score())
                        .map(object -> told(object, wanted.masks()))
                        .collect(ImmutableList.toImmutableList());
        return new Answer(null, size.width(), size.height(), objects, null, null);
    }

    private static Found told(DetectedObject object, Masks masks) {
        Box box = object.box();
        List<Float> edges =
                Stream.of(box.x1(), box.y1(), box.width(), box.height())
                        .map(Double::floatValue)
                        .toList();
        Object segmentation = object.mask().flatMap(masks::segmentation).orElse(null);
        return new Found(object.label(), (float) object.score(), edges, segmentation);
    }

    static Answer of(LabelMap labels, List<String> classes, Wanted wanted) {
        Size size = labels.size();
        Map<Integer, Rle> masks = wanted.masks() == Masks.FALSE ? Map.of() : labels.masks();
        ImmutableList.Builder<Region> regions = ImmutableList.builder();
        new ClassMap(labels, classes)
                .shares()
                .forEach(
                        (label, share) -> {
                            Object segmentation =
                                    masks.isEmpty()
                                            ? null
                                            : wanted.masks()
                                                    .segmentation(masks.get(classes.indexOf(label)))
                                                    .orElse(null);
                            long pixels = Math.round(share * size.area());
                            regions.add(new Region(label, pixels, share, segmentation));
                        });
        return new Answer(null, size.width(), size.height(), null, regions.build(), null);
    }

    static Answer of(Problem problem) {
        return new Answer(null, null, null, null, null, problem);
    }

    Answer named(String file) {
        return new Answer(file, width, height, objects, regions, problem);
    }
}

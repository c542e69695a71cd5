package dev.saccade.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.models.Detector;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Finds objects: writes a picture with boxes, and masks if there are any, for each photograph. */
final class ObjectPredictor implements Predictor {

    private final Detector detector;
    private final Pictures pictures;
    private final double minScore;
    private int objects;

    /**
     * Takes a detector, which it does not close.
     *
     * @param minScore least score of what is drawn and told
     */
    ObjectPredictor(Detector detector, Pictures pictures, double minScore) {
        this.detector = detector;
        this.pictures = pictures;
        this.minScore = minScore;
    }

    /**
     * An object in a photograph.
     *
     * @param label the name of its class
     * @param score from 0 to 1
     * @param box x, y, width and height in pixels of the photograph
     * @param segmentation {@code size} and {@code counts} of its mask, COCO's compressed run
     *     lengths; empty and left out of the JSON if the detector predicts none
     */
    record Found(
            String label,
            double score,
            List<Double> box,
            @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, Object> segmentation) {

        private static Found of(Instances instances, int i, List<String> classes) {
            Boxes boxes = instances.boxes();
            return new Found(
                    classes.get(instances.label(i)),
                    instances.score(i),
                    List.of(
                            (double) boxes.x1(i),
                            (double) boxes.y1(i),
                            (double) boxes.width(i),
                            (double) boxes.height(i)),
                    instances.hasMasks() ? segmentation(instances.mask(i)) : Map.of());
        }

        private static Map<String, Object> segmentation(Rle mask) {
            List<Integer> size = List.of(mask.size().height(), mask.size().width());
            return ImmutableMap.of("size", size, "counts", mask.toCompressedString());
        }
    }

    @Override
    public List<Found> predict(Path photo) {
        Instances sure = aboveScore(detector.detect(photo));
        pictures.write(photo, sure);
        objects += sure.size();
        return IntStream.range(0, sure.size())
                .mapToObj(i -> Found.of(sure, i, detector.classes()))
                .toList();
    }

    private Instances aboveScore(Instances all) {
        return all.select(
                IntStream.range(0, all.size()).filter(i -> all.score(i) >= minScore).toArray());
    }

    @Override
    public String summary() {
        return objects + " objects";
    }
}

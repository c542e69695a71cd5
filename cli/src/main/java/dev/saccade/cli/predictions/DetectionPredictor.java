package dev.saccade.cli.predictions;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Count;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.models.Box;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Finds objects: writes a picture with boxes, and masks if there are any, for each photograph. */
public final class DetectionPredictor implements Predictor {

    private final Detector detector;
    private final Pictures pictures;
    private final double minScore;

    /**
     * Takes a detector, which it does not close.
     *
     * @param minScore least score of what is drawn and told
     */
    public DetectionPredictor(Detector detector, Pictures pictures, double minScore) {
        this.detector = detector;
        this.pictures = pictures;
        this.minScore = minScore;
    }

    /**
     * An object in a photograph.
     *
     * @param label the name of its class
     * @param score from 0 to 1
     * @param box left, top, width and height in pixels of the photograph, as COCO has it
     * @param segmentation {@code size} and {@code counts} of its mask, COCO's compressed run
     *     lengths; empty and left out of the JSON if the detector predicts none
     */
    record Found(
            String label,
            float score,
            List<Float> box,
            @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, Object> segmentation) {

        private static Found of(DetectedObject object) {
            Box box = object.box();
            return new Found(
                    object.label(),
                    (float) object.score(),
                    Stream.of(box.x1(), box.y1(), box.width(), box.height())
                            .map(Double::floatValue)
                            .toList(),
                    object.mask().map(Found::segmentation).orElse(Map.of()));
        }

        private static Map<String, Object> segmentation(Rle mask) {
            List<Integer> size = List.of(mask.size().height(), mask.size().width());
            return ImmutableMap.of("size", size, "counts", mask.toCompressedString());
        }
    }

    @Override
    public Prediction predict(ImageSource photo) {
        Instances found = detector.predict(photo);
        Instances sure =
                found.select(
                        IntStream.range(0, found.size())
                                .filter(i -> found.score(i) >= minScore)
                                .toArray());
        return new Prediction(
                pictures.write(photo, sure),
                DetectedObject.of(sure, detector.classes()).stream().map(Found::of).toList());
    }

    @Override
    public String summary(Seen seen) {
        return Count.of(seen.things(), "object");
    }
}

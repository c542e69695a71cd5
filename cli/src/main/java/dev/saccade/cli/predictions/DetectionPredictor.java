package dev.saccade.cli.predictions;

import dev.saccade.core.Count;
import dev.saccade.core.Text;
import dev.saccade.core.parts.HeadConfig;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;
import dev.saccade.models.PredictionJson;
import dev.saccade.models.ScoreThresholds;

import org.opencv.core.Mat;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Finds objects: writes a picture with boxes, and masks if there are any, for each photograph. */
public final class DetectionPredictor implements Predictor {

    private final Detector detector;
    private final Pictures pictures;
    private final ScoreThresholds thresholds;

    /**
     * Takes a detector, which it does not close.
     *
     * @param thresholds minimum scores of detections
     */
    public DetectionPredictor(Detector detector, Pictures pictures, ScoreThresholds thresholds) {
        this.detector = detector;
        this.pictures = pictures;
        this.thresholds = thresholds;
    }

    @Override
    public Prediction predict(String name, Mat image) {
        ImageSource photo = ImageSource.of(name, image);
        Size size = new Size(image.rows(), image.cols());
        Instances found = thresholds.select(detector.predict(photo), detector.classes());
        List<DetectedObject> objects = DetectedObject.of(found, detector.classes());
        return new Prediction(
                pictures.write(photo, found),
                PredictionJson.of(size, objects, PredictionJson::rle));
    }

    @Override
    public Optional<String> leftOut(Seen seen) {
        Map<String, Integer> limits = detector.spec().model().head().objectLimits();
        int limit = limits.getOrDefault(HeadConfig.MAX_PER_IMG, Integer.MAX_VALUE);
        long full = seen.withAtLeast(limit);
        return full == 0
                ? Optional.empty()
                : Optional.of(
                        Text.format(
                                "%d of %s reach the limit of %d objects (model.head.%s); others may"
                                        + " be missing",
                                full,
                                Count.of(seen.photographs(), "image"),
                                limit,
                                HeadConfig.MAX_PER_IMG));
    }

    @Override
    public String summary(Seen seen) {
        return Count.of(seen.objects(), "object");
    }
}

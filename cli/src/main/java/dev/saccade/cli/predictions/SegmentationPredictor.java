package dev.saccade.cli.predictions;

import dev.saccade.core.Count;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.models.ClassMap;
import dev.saccade.models.PredictionJson;
import dev.saccade.models.Segmenter;

import org.opencv.core.Mat;

/** Tells the class of every pixel: writes a label map and a picture of it for each photograph. */
public final class SegmentationPredictor implements Predictor {

    private final Segmenter segmenter;
    private final Pictures pictures;

    /** Takes a segmenter, which it does not close. */
    public SegmentationPredictor(Segmenter segmenter, Pictures pictures) {
        this.segmenter = segmenter;
        this.pictures = pictures;
    }

    @Override
    public Prediction predict(String name, Mat image) {
        ImageSource photo = ImageSource.of(name, image);
        ClassMap map = segmenter.segment(photo);
        return new Prediction(
                pictures.write(photo, map), PredictionJson.of(map, PredictionJson::rle));
    }

    @Override
    public String summary(Seen seen) {
        return Count.of(seen.classes(), "class");
    }
}

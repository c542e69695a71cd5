package dev.saccade.cli.predictions;

import dev.saccade.core.Count;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.models.ClassMap;
import dev.saccade.models.Segmenter;

import java.util.List;

/** Tells the class of every pixel: writes a label map and a picture of it for each photograph. */
public final class SegmentationPredictor implements Predictor {

    private final Segmenter segmenter;
    private final Pictures pictures;

    /** Takes a segmenter, which it does not close. */
    public SegmentationPredictor(Segmenter segmenter, Pictures pictures) {
        this.segmenter = segmenter;
        this.pictures = pictures;
    }

    /**
     * A class in a photograph.
     *
     * @param label its name
     * @param pixels how many are of it, at least 1
     * @param share of all pixels, above 0 to 1
     */
    record Region(String label, long pixels, double share) {}

    /** Finds the classes of the photograph, that of most pixels first. */
    @Override
    public Prediction predict(ImageSource photo) {
        ClassMap map = segmenter.segment(photo);
        double all = map.labels().size().area();
        List<Region> regions =
                map.shares().entrySet().stream()
                        .map(
                                entry ->
                                        new Region(
                                                entry.getKey(),
                                                Math.round(entry.getValue() * all),
                                                entry.getValue()))
                        .toList();
        return new Prediction(pictures.write(photo, map), regions);
    }

    @Override
    public String summary(Seen seen) {
        return Count.of(seen.classes(), "class");
    }
}

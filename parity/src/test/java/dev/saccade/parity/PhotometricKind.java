package dev.saccade.parity;

import dev.saccade.datasets.image.OpenCv;
import dev.saccade.datasets.transforms.PhotometricDistortion;

import org.opencv.core.CvType;
import org.opencv.core.Mat;

import java.util.List;
import java.util.Optional;

/** Brightness, contrast, saturation and hue with scripted random values. */
final class PhotometricKind implements Kind {

    private final PhotometricDistortion.Variant form;
    private final Tolerance grayLevels;

    /** Creates the kind for a variant; {@code grayLevels} is the tolerance per pixel. */
    PhotometricKind(PhotometricDistortion.Variant form, double grayLevels) {
        this.form = form;
        this.grayLevels = Tolerance.absolute(grayLevels);
    }

    @Override
    public void run(Case recorded) {
        OpenCv.load();
        PhotometricDistortion strongest =
                new PhotometricDistortion(form, 255, List.of(0.0, 9.0), List.of(0.0, 9.0), 90);
        List<Settings> draws = recorded.settings().objects("draws");
        for (int k = 0; k < draws.size(); k++) {
            Mat image = image(recorded.array("img"));
            Mat distorted = strongest.distort(image, draws(draws.get(k)));
            recorded.compare("out" + k, Pixels.of(distorted), grayLevels);
            image.release();
            distorted.release();
        }
    }

    private Mat image(NumpyArray pixels) {
        return switch (form) {
            case DETECTION -> Pixels.mat(pixels, CvType.CV_32FC3);
            case SEGMENTATION -> Pixels.mat(pixels, CvType.CV_8UC3);
        };
    }

    private static PhotometricDistortion.Parameters draws(Settings draw) {
        return new PhotometricDistortion.Parameters(
                maybe(draw, "brightness"),
                draw.integer("mode") == 1,
                maybe(draw, "contrast"),
                maybe(draw, "saturation"),
                maybe(draw, "hue"),
                draw.has("perm") ? draw.integers("perm") : List.of());
    }

    private static Optional<Double> maybe(Settings draw, String key) {
        return draw.has(key) ? Optional.of(draw.number(key)) : Optional.empty();
    }
}

package dev.saccade.parity;

import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.datasets.transforms.GaussianBlur;

import org.opencv.core.CvType;

import java.util.List;

/** Gaussian blur of torchvision and albumentations, within one gray level. */
final class GaussianBlurKind implements Kind {

    private static final Tolerance GRAY_LEVEL = Tolerance.absolute(1);

    @Override
    public void run(Case recorded) {
        OpenCv.load();
        NumpyArray pixels = recorded.array("img");
        List<Settings> draws = recorded.settings().objects("draws");
        for (int k = 0; k < draws.size(); k++) {
            double sigma = draws.get(k).number("sigma");
            GaussianBlur blur =
                    new GaussianBlur(draws.get(k).integer("kernel_size"), List.of(sigma, sigma), 1);
            Sample sample =
                    Sample.of(
                            Pixels.mat(pixels, CvType.CV_8UC3),
                            ImageInfo.of(new Size(pixels.size(0), pixels.size(1))),
                            Instances.empty());
            try (Sample blurred = blur.blur(sample, sigma)) {
                NumpyArray result = Pixels.of(blurred.image());
                recorded.compare("torchvision" + k, result, GRAY_LEVEL);
                recorded.compare("albumentations" + k, result, GRAY_LEVEL);
            }
        }
    }
}

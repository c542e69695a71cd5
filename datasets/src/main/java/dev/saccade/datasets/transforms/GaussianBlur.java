package dev.saccade.datasets.transforms;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;

import org.opencv.core.Core;
import org.opencv.core.Mat;
import org.opencv.core.Size;
import org.opencv.imgproc.Imgproc;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Blurs the image by a Gaussian kernel (torchvision's {@code GaussianBlur}).
 *
 * @param kernelSize edge of the kernel in pixels, odd; 0 for 6 times sigma
 * @param sigma range of the standard deviation in pixels
 * @param prob probability of blurring the image
 */
@Component("gaussian_blur")
public record GaussianBlur(
        @Default("0") int kernelSize,
        @Default("[0.1, 2.0]") List<Double> sigma,
        @Default("0.5") double prob)
        implements Transform {

    public GaussianBlur {
        sigma = List.copyOf(sigma);
        new Checks()
                .inRange("kernel_size", kernelSize, 0, 999)
                .range("sigma", sigma, 0.01, 100)
                .inRange("prob", prob, 0, 1)
                .throwIfAny();
        Checks.require(
                kernelSize == 0 || kernelSize % 2 == 1, "kernel_size", kernelSize, "an odd number");
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        if (random.nextDouble() >= prob) {
            return sample;
        }
        double low = sigma.get(0);
        return blur(sample, low + (sigma.get(1) - low) * random.nextDouble());
    }

    /** Blurs with a standard deviation; the image is reflected at its edges. */
    public Sample blur(Sample sample, double deviation) {
        Mat blurred = new Mat();
        Size kernel = new Size(kernelSize, kernelSize);
        Imgproc.GaussianBlur(
                sample.image(), blurred, kernel, deviation, deviation, Core.BORDER_REFLECT_101);
        return sample.with(blurred, sample.info(), sample.targets());
    }
}

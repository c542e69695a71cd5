package dev.saccade.examples.components;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;

import org.opencv.core.Mat;
import org.opencv.imgproc.Imgproc;

import java.util.SplittableRandom;

/** Converts some images to grayscale. */
@Component("random_grayscale")
public record RandomGrayscale(@Default("0.1") double probability) implements Transform {

    public RandomGrayscale {
        new Checks().inRange("probability", probability, 0, 1).throwIfAny();
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        if (random.nextDouble() >= probability) {
            return sample;
        }
        Mat gray = new Mat();
        Imgproc.cvtColor(sample.image(), gray, Imgproc.COLOR_BGR2GRAY);
        Imgproc.cvtColor(gray, gray, Imgproc.COLOR_GRAY2BGR);
        return sample.with(gray, sample.info(), sample.targets());
    }
}

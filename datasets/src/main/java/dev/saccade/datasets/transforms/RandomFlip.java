package dev.saccade.datasets.transforms;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;

import org.opencv.core.Core;
import org.opencv.core.Mat;

import java.util.SplittableRandom;

/** Flips image, masks, boxes and label maps with a probability. */
@Component("random_flip")
public record RandomFlip(
        @Default("0.5") double probability, @Default("horizontal") Direction direction)
        implements Transform {

    /** Axis of a flip, with OpenCV's code. */
    public enum Direction {
        HORIZONTAL(1),
        VERTICAL(0);

        private final int code;

        Direction(int code) {
            this.code = code;
        }
    }

    public RandomFlip {
        new Checks().inRange("probability", probability, 0, 1).throwIfAny();
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        return random.nextDouble() < probability ? flip(sample) : sample;
    }

    public Sample flip(Sample sample) {
        ImageInfo info = sample.info();
        Mat flipped = new Mat();
        Core.flip(sample.image(), flipped, direction.code);
        return direction == Direction.HORIZONTAL
                ? sample.transform(
                        flipped,
                        info.flipHorizontal(),
                        boxes -> boxes.flipHorizontal(info.size().width()),
                        Rle::flipHorizontal,
                        LabelMap::flipHorizontal)
                : sample.transform(
                        flipped,
                        info,
                        boxes -> boxes.flipVertical(info.size().height()),
                        Rle::flipVertical,
                        LabelMap::flipVertical);
    }
}

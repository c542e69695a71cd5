package dev.saccade.datasets.transforms;

import dev.saccade.core.Checks;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;

import org.opencv.core.Core;
import org.opencv.core.Mat;

import java.util.SplittableRandom;

/**
 * Mirrors image, masks, boxes and labels at times.
 *
 * @param probability how often, 0 to 1
 * @param direction along which axis
 */
@Part("random_flip")
public record RandomFlip(
        @Default("0.5") double probability, @Default("horizontal") Direction direction)
        implements Transform {

    /** Along which axis an image is mirrored, with OpenCV's code for it. */
    public enum Direction {
        /** Left becomes right. */
        HORIZONTAL(1),
        /** Top becomes bottom. */
        VERTICAL(0);

        private final int code;

        Direction(int code) {
            this.code = code;
        }
    }

    /** Checks the probability. */
    public RandomFlip {
        new Checks().within("probability", probability, 0, 1).throwIfAny();
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        return random.nextDouble() < probability ? flip(sample) : sample;
    }

    /** Returns the sample mirrored. */
    public Sample flip(Sample sample) {
        boolean horizontal = direction == Direction.HORIZONTAL;
        Size size = sample.info().size();
        Sample flipped =
                sample.with(
                        flip(sample.image()),
                        horizontal ? sample.info().mirrored() : sample.info(),
                        sample.targets()
                                .mapBoxes(
                                        boxes ->
                                                horizontal
                                                        ? boxes.flipHorizontal(size.width())
                                                        : boxes.flipVertical(size.height()))
                                .mapMasks(horizontal ? Rle::flipHorizontal : Rle::flipVertical));
        return flipped.mapLabels(horizontal ? LabelMap::flipHorizontal : LabelMap::flipVertical);
    }

    private Mat flip(Mat image) {
        Mat flipped = new Mat();
        Core.flip(image, flipped, direction.code);
        return flipped;
    }
}

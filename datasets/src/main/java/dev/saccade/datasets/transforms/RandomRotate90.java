package dev.saccade.datasets.transforms;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;

import org.opencv.core.Core;
import org.opencv.core.Mat;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Rotates by a multiple of 90 degrees, for images without a fixed orientation such as aerial and
 * microscope images (albumentations' {@code RandomRotate90}).
 *
 * @param prob probability of rotating by 0, 90, 180 or 270 degrees, each equally likely
 */
@Component("random_rotate90")
public record RandomRotate90(@Default("1") double prob) implements Transform {

    /** OpenCV's codes of one, two and three quarter turns counterclockwise. */
    private static final List<Integer> CODES =
            List.of(Core.ROTATE_90_COUNTERCLOCKWISE, Core.ROTATE_180, Core.ROTATE_90_CLOCKWISE);

    public RandomRotate90 {
        new Checks().inRange("prob", prob, 0, 1).throwIfAny();
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        return random.nextDouble() < prob ? rotate(sample, random.nextInt(4)) : sample;
    }

    /** Rotates counterclockwise by a number of quarter turns, 0 to 3. */
    public static Sample rotate(Sample sample, int turns) {
        if (turns == 0) {
            return sample;
        }
        Size before = sample.info().size();
        Size size = turns == 2 ? before : new Size(before.width(), before.height());
        Mat rotated = Channels.rotate(sample.image(), CODES.get(turns - 1));
        return sample.transform(
                rotated,
                sample.info().cropped(size),
                boxes -> rotate(boxes, turns, size),
                mask -> rotate(mask, turns),
                map -> rotate(map, turns));
    }

    private static Boxes rotate(Boxes boxes, int turns, Size size) {
        return switch (turns) {
            case 1 -> boxes.transpose().flipVertical(size.height());
            case 2 -> boxes.flipHorizontal(size.width()).flipVertical(size.height());
            default -> boxes.transpose().flipHorizontal(size.width());
        };
    }

    private static Rle rotate(Rle mask, int turns) {
        return switch (turns) {
            case 1 -> mask.transpose().flipVertical();
            case 2 -> mask.flipHorizontal().flipVertical();
            default -> mask.transpose().flipHorizontal();
        };
    }

    private static LabelMap rotate(LabelMap map, int turns) {
        return switch (turns) {
            case 1 -> map.transpose().flipVertical();
            case 2 -> map.flipHorizontal().flipVertical();
            default -> map.transpose().flipHorizontal();
        };
    }
}

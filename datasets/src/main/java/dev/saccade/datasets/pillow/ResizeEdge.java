package dev.saccade.datasets.pillow;

import com.google.common.collect.Lists;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.ImageScale;
import dev.saccade.datasets.InputSize;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;

import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Resizes the shorter edge and keeps the aspect ratio, like torchvision's {@code Resize(scale)} and
 * mmpretrain's {@code ResizeEdge}; the longer edge is rounded down.
 *
 * @param scale length of the shorter edge in pixels; if missing, the data's {@code image_size}
 *     divided by {@code crop_fraction} and rounded down
 * @param cropFraction fraction of the shorter edge that {@code center_crop} keeps, as timm's {@code
 *     crop_pct}
 */
@Component("resize_edge")
public record ResizeEdge(
        Optional<Integer> scale,
        @Default("0.875") double cropFraction,
        @Default("bicubic") Interpolation interpolation)
        implements Transform {

    private static final int MAX_SCALE = 4096;

    public ResizeEdge {
        new Checks()
                .inRange("scale", scale, 1, MAX_SCALE)
                .inRange("crop_fraction", cropFraction, 0.01, 1)
                .throwIfAny();
        Checks.require(
                interpolation != Interpolation.RANDOM,
                "interpolation",
                "random",
                "bilinear or bicubic");
    }

    @Override
    public Optional<String> incompatibility(TargetKind targets) {
        return PillowImage.incompatibility(type(), targets);
    }

    @Override
    public ResizeEdge withDefaultSize(InputSize input) {
        if (scale.isPresent()) {
            return this;
        }
        List<Integer> crop = input.classifierInput();
        if (!crop.get(0).equals(crop.get(1))) {
            throw SaccadeException.user(
                    "resize_edge: scale is missing; set it in pixels, because the image_size %s is"
                            + " not square",
                    Lists.reverse(crop));
        }
        int edge = (int) (crop.get(0) / cropFraction);
        if (edge > MAX_SCALE) {
            throw SaccadeException.user(
                    "resize_edge: crop_fraction %s of the image_size %s resizes images to %d pixels,"
                            + " expected at most %d",
                    cropFraction, crop.get(0), edge, MAX_SCALE);
        }
        return new ResizeEdge(Optional.of(edge), cropFraction, interpolation);
    }

    private Size target(Size image) {
        int shorter = Math.min(image.width(), image.height());
        return new Size(edge(image.height(), shorter), edge(image.width(), shorter));
    }

    private int edge(int edge, int shorter) {
        int resized = scale.orElseThrow();
        return edge == shorter
                ? resized
                : (int) Math.min(InputSize.MAX_EDGE, (long) resized * edge / shorter);
    }

    @Override
    public ImageScale scale(ImageScale image) {
        return image.resized(target(image.size()));
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        Size target = target(sample.info().size());
        if (target.equals(sample.info().size())) {
            return sample;
        }
        return PillowImage.replace(
                sample,
                PillowResize.resize(
                        sample.image(), target.height(), target.width(), interpolation));
    }
}

package dev.saccade.datasets.pillow;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.ImageScale;
import dev.saccade.datasets.InputSize;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;

import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Resizes the shorter edge and keeps the aspect ratio, like torchvision's {@code Resize(scale)} and
 * mmpretrain's {@code ResizeEdge}; the longer edge is rounded down.
 *
 * @param scale length of the shorter edge in pixels
 */
@Component("resize_edge")
public record ResizeEdge(@Default("256") int scale, @Default("bicubic") Interpolation interpolation)
        implements Transform {

    private static final int MAX_SCALE = 4096;

    public ResizeEdge {
        new Checks().inRange("scale", scale, 1, MAX_SCALE).throwIfAny();
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

    private Size target(Size image) {
        int shorter = Math.min(image.width(), image.height());
        return new Size(edge(image.height(), shorter), edge(image.width(), shorter));
    }

    private int edge(int edge, int shorter) {
        return edge == shorter
                ? scale
                : (int) Math.min(InputSize.MAX_EDGE, (long) scale * edge / shorter);
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
                        PillowImage.of(sample.image()),
                        target.height(),
                        target.width(),
                        interpolation));
    }
}

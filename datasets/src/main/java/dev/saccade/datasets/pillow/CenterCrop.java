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
import dev.saccade.datasets.transforms.RandomCrop;

import org.opencv.core.Mat;

import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Crops the center, like torchvision's {@code CenterCrop}; smaller images are padded with black.
 *
 * @param size height and width; if empty, the data's {@code image_size}, or [224, 224]
 */
@Component("center_crop")
public record CenterCrop(@Default("[]") List<Integer> size) implements Transform {

    public CenterCrop {
        size = List.copyOf(size);
        if (!size.isEmpty()) {
            new Checks().each("size", size, 2, 1, InputSize.MAX_EDGE).throwIfAny();
        }
    }

    @Override
    public Optional<String> incompatibility(TargetKind targets) {
        return PillowImage.incompatibility(type(), targets);
    }

    @Override
    public CenterCrop withDefaultSize(InputSize input) {
        return size.isEmpty() ? new CenterCrop(input.classifierInput()) : this;
    }

    private Size size(Size image) {
        return new Size(
                Math.min(image.height(), size.get(0)), Math.min(image.width(), size.get(1)));
    }

    @Override
    public ImageScale scale(ImageScale image) {
        return new ImageScale(new Size(size.get(0), size.get(1)), image.factor());
    }

    @Override
    public Sample apply(Sample sample, SplittableRandom random) {
        Size image = sample.info().size();
        Size part = size(image);
        // Half pixels are rounded to even positions, as in Python.
        int top = (int) Math.rint((image.height() - part.height()) / 2.0);
        int left = (int) Math.rint((image.width() - part.width()) / 2.0);
        Sample cropped = part.equals(image) ? sample : RandomCrop.crop(sample, top, left, part);
        int down = size.get(0) - part.height();
        int across = size.get(1) - part.width();
        if (down == 0 && across == 0) {
            return cropped;
        }
        Mat padded = Mat.zeros(size.get(0), size.get(1), cropped.image().type());
        Mat inside =
                padded.submat(
                        down / 2, down / 2 + part.height(), across / 2, across / 2 + part.width());
        cropped.image().copyTo(inside);
        inside.release();
        return cropped.with(
                padded,
                cropped.info().cropped(new Size(padded.rows(), padded.cols())),
                cropped.targets());
    }
}

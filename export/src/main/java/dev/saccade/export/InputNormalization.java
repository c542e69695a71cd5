package dev.saccade.export;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.Shape;

import com.google.common.primitives.Floats;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.datasets.transforms.Pad;

import java.util.List;
import java.util.Map;

/**
 * Normalization inside the model, whose input is RGB pixels of 0 to 255. Detectors also pad height
 * and width to multiples of {@code divisor}.
 */
public record InputNormalization(Normalize normalize, int divisor) {

    /** Sets pixels outside {@code sizes} to 0, then pads to multiples of {@code divisor}. */
    private static final ScriptTemplate PADDED =
            ScriptTemplate.of(
                    "(x: Tensor, sizes: Tensor) -> Tensor",
                    """
                    h = torch.size(x, 2)
                    w = torch.size(x, 3)
                    row = torch.arange(h, dtype=6, device=x.device)
                    column = torch.arange(w, dtype=6, device=x.device)
                    rows = torch.lt(row, torch.slice(sizes, 1, 1, 2))
                    columns = torch.lt(column, torch.slice(sizes, 1, 0, 1))
                    there = torch.logical_and(torch.unsqueeze(rows, 2), torch.unsqueeze(columns, 1))
                    inside = torch.where(torch.unsqueeze(there, 1), x, 0.)
                    below = torch.remainder(torch.neg(h), {divisor})
                    right = torch.remainder(torch.neg(w), {divisor})
                    return torch.pad(inside, [0, right, 0, below])
                    """);

    /**
     * Returns the normalization and padding of transforms. Fails without a {@link Normalize}, or if
     * another transform {@linkplain Transform#mustBeLast must be last}, such as fixed-size padding.
     */
    public static InputNormalization of(List<Transform> transforms) {
        Normalize normalize = null;
        int divisor = 1;
        for (Transform transform : transforms) {
            if (transform instanceof Normalize last) {
                normalize = last;
            } else if (transform instanceof Pad pad && pad.size().isEmpty()) {
                divisor = pad.divisor();
            } else if (transform.mustBeLast()) {
                throw SaccadeException.user(
                        "%s: cannot be part of the exported model; export without"
                                + " normalization",
                        transform.type());
            }
        }
        if (normalize == null) {
            throw SaccadeException.user(
                    "the model's transforms do not include normalize; export without"
                            + " normalization");
        }
        return new InputNormalization(normalize, divisor);
    }

    private static NDArray channels(NDArray like, List<Double> values) {
        return Tensors.of(
                like.getManager(), Floats.toArray(values), new Shape(1, values.size(), 1, 1));
    }

    NDArray normalized(NDArray pixels) {
        return pixels.sub(channels(pixels, normalize.mean()))
                .div(channels(pixels, normalize.std()));
    }

    /** Normalizes pixels and pads with 0; {@code sizes} are {@code [N, 2]} width and height. */
    NDArray padded(NDArray pixels, NDArray sizes) {
        return PADDED.with(Map.of("divisor", divisor)).run(normalized(pixels), sizes);
    }

    /** Pads a normalized image with 0. */
    NDArray padded(NDArray image) {
        Shape shape = image.getShape();
        Size size = new Size((int) shape.get(2), (int) shape.get(3));
        Size target = size.roundUpTo(divisor);
        NDArray padded =
                image.getManager()
                        .zeros(
                                new Shape(
                                        shape.get(0),
                                        shape.get(1),
                                        target.height(),
                                        target.width()));
        padded.set(new NDIndex(part(size)), image);
        return padded;
    }

    private static String part(Size size) {
        return ":, :, :" + size.height() + ", :" + size.width();
    }

    /** Restores the pixels of normalized images. */
    NDArray pixels(NDArray images) {
        return images.mul(channels(images, normalize.std()))
                .add(channels(images, normalize.mean()));
    }

    /** Restores the pixels of a batch and crops padding that all images share. */
    NDArray pixels(ImageBatch batch) {
        Size largest =
                batch.images().stream()
                        .map(image -> image.size())
                        .reduce(Size::union)
                        .orElseThrow();
        return pixels(batch.pixels().get(part(largest)));
    }
}

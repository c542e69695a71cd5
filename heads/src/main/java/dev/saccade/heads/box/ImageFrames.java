package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.structures.ImageInfo;

import java.util.List;

/**
 * The coordinates of the images of a batch, for boxes where the features are; the same steps as
 * those of {@link ImageInfo}.
 *
 * @param numbers {@code [B, 5]} float32: width and height before padding, scale in x and y, and 1
 *     where the image is mirrored
 * @param mirrored whether any image is
 * @param scaled whether the original images may differ from the network inputs
 */
public record ImageFrames(NDArray numbers, boolean mirrored, boolean scaled) {

    private static final String SIGNATURE = "(boxes: Tensor, numbers: Tensor) -> Tensor";

    private static final Script CLIP =
            Script.compile(
                    SIGNATURE,
                    """
                    size = torch.unsqueeze(torch.slice(numbers, 1, 0, 2), 1)
                    return torch.minimum(torch.clamp(boxes, 0), torch.cat([size, size], 2))
                    """);

    private static final Script CLIP_EACH =
            Script.compile(
                    "(boxes: Tensor, numbers: Tensor, images: Tensor) -> Tensor",
                    """
                    sizes = torch.slice(numbers, 1, 0, 2)
                    size = torch.index_select(torch.cat([sizes, sizes], 1), 0, images)
                    return torch.minimum(torch.clamp(boxes, 0), size)
                    """);

    /** Every number as a column beside rows of boxes, and the sides of the boxes. */
    private static final String UNBOUND =
            """
            f = torch.unbind(torch.unsqueeze(numbers, 2), 1)
            b = torch.unbind(boxes, 2)
            flip = torch.gt(f[4], 0)
            """;

    private static final Script TO_ORIGINAL =
            Script.compile(
                    SIGNATURE,
                    UNBOUND
                            + """
                            x1 = torch.div(torch.where(flip, torch.sub(f[0], b[2]), b[0]), f[2])
                            x2 = torch.div(torch.where(flip, torch.sub(f[0], b[0]), b[2]), f[2])
                            y1 = torch.div(b[1], f[3])
                            y2 = torch.div(b[3], f[3])
                            return torch.stack([x1, y1, x2, y2], 2)
                            """);

    private static final Script UNSCALED =
            Script.compile(
                    SIGNATURE,
                    """
                    scale = torch.unsqueeze(torch.slice(numbers, 1, 2, 4), 1)
                    return torch.div(boxes, torch.cat([scale, scale], 2))
                    """);

    private static final Script FROM_ORIGINAL =
            Script.compile(
                    SIGNATURE,
                    UNBOUND
                            + """
                            left = torch.mul(b[0], f[2])
                            right = torch.mul(b[2], f[2])
                            x1 = torch.where(flip, torch.sub(f[0], right), left)
                            x2 = torch.where(flip, torch.sub(f[0], left), right)
                            y1 = torch.mul(b[1], f[3])
                            y2 = torch.mul(b[3], f[3])
                            return torch.stack([x1, y1, x2, y2], 2)
                            """);

    private static final Script OF_SIZES =
            Script.compile(
                    "(sizes: Tensor) -> Tensor",
                    """
                    mirrored = torch.zeros_like(torch.slice(sizes, 1, 0, 1))
                    return torch.cat([sizes, torch.ones_like(sizes), mirrored], 1)
                    """);

    /**
     * Returns the frames of images that are neither scaled nor mirrored.
     *
     * @param sizes {@code [B, 2]} float32: width and height before padding
     */
    public static ImageFrames ofSizes(NDArray sizes) {
        return new ImageFrames(OF_SIZES.run(sizes), false, false);
    }

    /** Brings what is known of the images of a batch to where a manager makes arrays. */
    public static ImageFrames of(NDManager manager, List<ImageInfo> images) {
        float[] numbers = new float[5 * images.size()];
        int at = 0;
        for (ImageInfo image : images) {
            numbers[at++] = image.size().width();
            numbers[at++] = image.size().height();
            numbers[at++] = image.scaleX();
            numbers[at++] = image.scaleY();
            numbers[at++] = image.flipped() ? 1 : 0;
        }
        return new ImageFrames(
                Tensors.of(manager, numbers, new Shape(images.size(), 5)),
                images.stream().anyMatch(ImageInfo::flipped),
                true);
    }

    /** Returns the frames of several batches of one image. */
    public static List<ImageFrames> each(NDManager manager, List<ImageInfo> images) {
        return images.stream().map(image -> of(manager, List.of(image))).toList();
    }

    /** Returns frames whose original images are the network inputs. */
    public ImageFrames withoutScale() {
        return new ImageFrames(numbers, false, false);
    }

    /** Returns {@code [B, N, 4]} boxes with every corner moved into the image. */
    public NDArray clip(NDArray boxes) {
        return CLIP.run(boxes, numbers);
    }

    /**
     * Returns boxes with every corner moved into their images.
     *
     * @param boxes {@code [R, 4]}
     * @param images {@code [R]} integers: position in the batch of the image of each
     */
    public NDArray clip(NDArray boxes, NDArray images) {
        return CLIP_EACH.run(boxes, numbers, images);
    }

    /** Returns {@code [B, N, 4]} boxes of the network input in those of the original images. */
    public NDArray toOriginal(NDArray boxes) {
        return scaled ? (mirrored ? TO_ORIGINAL : UNSCALED).run(boxes, numbers) : boxes;
    }

    /** Returns {@code [B, N, 4]} boxes of the original images in those of the network input. */
    public NDArray fromOriginal(NDArray boxes) {
        return FROM_ORIGINAL.run(boxes, numbers);
    }
}

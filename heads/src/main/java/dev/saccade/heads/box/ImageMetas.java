package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.structures.ImageInfo;

import java.util.List;
import java.util.Optional;

/**
 * Sizes, scales and flips of a batch; converts boxes on the device exactly like {@link ImageInfo}.
 *
 * @param limits {@code [B, 4]} float32: width, height, width, height before padding
 * @param scale {@code [B, 4]} float32: scale of x, y, x, y; empty if not scaled
 * @param flipped {@code [B, 1]} float32: 1 for horizontally flipped images; empty if none are
 */
public record ImageMetas(NDArray limits, Optional<NDArray> scale, Optional<NDArray> flipped) {

    private static final int COLUMNS = 9;

    /**
     * Returns the metas of unscaled images with {@code [B, 2]} float32 width and height before
     * padding.
     */
    public static ImageMetas ofSizes(NDArray sizes) {
        return new ImageMetas(sizes.concat(sizes, 1), Optional.empty(), Optional.empty());
    }

    /** Returns the metas of a batch, copied to the device of the manager. */
    public static ImageMetas of(NDManager manager, List<ImageInfo> images) {
        float[] numbers = new float[COLUMNS * images.size()];
        for (int n = 0; n < images.size(); n++) {
            ImageInfo image = images.get(n);
            for (int i = 0; i < 2; i++) {
                int at = COLUMNS * n + 2 * i;
                numbers[at] = image.size().width();
                numbers[at + 1] = image.size().height();
                numbers[at + 4] = image.scaleX();
                numbers[at + 5] = image.scaleY();
            }
            numbers[COLUMNS * n + 8] = image.flipped() ? 1 : 0;
        }
        NDArray all = Tensors.of(manager, numbers, new Shape(images.size(), COLUMNS));
        Optional<NDArray> flipped =
                images.stream().anyMatch(ImageInfo::flipped)
                        ? Optional.of(Functional.slice(all, 1, 8, 9))
                        : Optional.empty();
        return new ImageMetas(
                Functional.slice(all, 1, 0, 4),
                Optional.of(Functional.slice(all, 1, 4, 8)),
                flipped);
    }

    /** Returns the metas of each view of an image, each as a batch of one. */
    public static List<ImageMetas> ofViews(NDManager manager, List<ImageInfo> images) {
        return images.stream().map(image -> of(manager, List.of(image))).toList();
    }

    /** Returns a copy without scales and flips, for boxes in network input coordinates. */
    public ImageMetas withoutScale() {
        return new ImageMetas(limits, Optional.empty(), Optional.empty());
    }

    /** Clips {@code [B, N, 4]} boxes to their images. */
    public NDArray clip(NDArray boxes) {
        return Functional.minimum(Functional.clamp(boxes, 0), limits.expandDims(1));
    }

    /** Clips {@code [R, 4]} boxes to their images, given as {@code [R]} int64 indices. */
    public NDArray clip(NDArray boxes, NDArray images) {
        return Functional.minimum(
                Functional.clamp(boxes, 0), Functional.indexSelect(limits, 0, images));
    }

    /** Converts {@code [B, N, 4]} boxes from the network input to the original images. */
    public NDArray toOriginal(NDArray boxes) {
        NDArray upright = flip(boxes);
        return scale.map(each -> upright.div(each.expandDims(1))).orElse(upright);
    }

    /** Converts {@code [B, N, 4]} boxes from the original images to the network input. */
    public NDArray fromOriginal(NDArray boxes) {
        return flip(scale.map(each -> boxes.mul(each.expandDims(1))).orElse(boxes));
    }

    private NDArray flip(NDArray boxes) {
        if (flipped.isEmpty()) {
            return boxes;
        }
        NDArray width = Functional.slice(limits, 1, 0, 1).expandDims(1);
        NDList sides = boxes.split(4, 2);
        NDList mirrored =
                new NDList(
                        width.sub(sides.get(2)),
                        sides.get(1),
                        width.sub(sides.get(0)),
                        sides.get(3));
        NDArray isFlipped = Functional.gt(flipped.get(), 0).expandDims(1);
        return Functional.where(isFlipped, NDArrays.concat(mirrored, 2), boxes);
    }
}

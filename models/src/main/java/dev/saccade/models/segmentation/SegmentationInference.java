package dev.saccade.models.segmentation;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.structures.Size;

import java.util.function.UnaryOperator;

/**
 * Segmentation inference as in mmsegmentation: logits are resized to the input size, then to the
 * requested size.
 *
 * @param network maps pixels {@code [1, 3, H, W]} to logits {@code [1, K, h, w]}
 */
public record SegmentationInference(UnaryOperator<NDArray> network, boolean alignCorners) {

    /** Returns the logits of an image {@code [1, 3, H, W]} at target size. Closes the input. */
    public ScoreMap whole(NDArray pixels, Size target) {
        return scores(pixels).resize(target, alignCorners);
    }

    /**
     * Returns the mean logits over sliding windows of an image {@code [1, 3, H, W]}, at target
     * size. Closing the result closes the image. A window is computed when a tile that overlaps it
     * is requested.
     */
    public ScoreMap sliding(NDArray pixels, SlidingWindow window, int numClasses, Size target) {
        NDManager manager = pixels.getManager();
        Size size = size(pixels);
        SlidingMap mean =
                new SlidingMap(
                        window.tiles(size), tile -> scores(pixels.get(":, :, " + tile.index())));
        Runnable free =
                () -> {
                    mean.close();
                    pixels.close();
                };
        return new ScoreMap(
                        size,
                        numClasses,
                        manager,
                        tile -> mean.part(tile, manager, numClasses),
                        free)
                .resize(target, alignCorners);
    }

    /** Returns the logits at input size. Closes the input. */
    private ScoreMap scores(NDArray pixels) {
        try (pixels) {
            return ScoreMap.of(network.apply(pixels)).resize(size(pixels), alignCorners);
        }
    }

    static Size size(NDArray pixels) {
        Shape shape = pixels.getShape();
        return new Size((int) shape.get(2), (int) shape.get(3));
    }
}

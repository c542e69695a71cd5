package dev.saccade.models.segmentation;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Text;
import dev.saccade.core.structures.Size;
import dev.saccade.models.segmentation.SlidingWindow.Span;

import java.util.function.UnaryOperator;

/**
 * How a network's scores of an image become those of its pixels at another size, in the order of
 * mmsegmentation: the scores are resized to the size of what the network saw, then to that which is
 * wanted.
 *
 * @param network {@code [1, 3, H, W]} to {@code [1, K, h, w]}
 * @param alignCorners how scores are resized
 */
public record ScoreMaps(UnaryOperator<NDArray> network, boolean alignCorners) {

    /**
     * Returns the scores of an image that the network sees whole, and now.
     *
     * @param pixels {@code [1, 3, H, W]}, freed
     */
    public ScoreMap whole(NDArray pixels, Size wanted) {
        return ResizedMap.of(seen(pixels), wanted, alignCorners);
    }

    /**
     * Returns the scores of an image that the network sees in windows, when their rows are wanted.
     *
     * @param pixels {@code [1, 3, H, W]}, freed with the scores
     */
    public ScoreMap sliding(NDArray pixels, SlidingWindow window, int numClasses, Size wanted) {
        ScoreMap mean =
                new SlidingMap(
                        pixels,
                        window,
                        numClasses,
                        (rows, columns) -> seen(part(pixels, rows, columns)));
        return ResizedMap.of(mean, wanted, alignCorners);
    }

    private static NDArray part(NDArray pixels, Span rows, Span columns) {
        return pixels.get(
                Text.format(
                        ":, :, %d:%d, %d:%d",
                        rows.start(), rows.end(), columns.start(), columns.end()));
    }

    /** Returns the scores at the size of the image; frees it. */
    private ScoreMap seen(NDArray pixels) {
        try (pixels) {
            ScoreMap logits = new LogitMap(network.apply(pixels));
            return ResizedMap.of(logits, size(pixels), alignCorners);
        }
    }

    /** Returns height and width of {@code [1, 3, H, W]}. */
    static Size size(NDArray pixels) {
        Shape shape = pixels.getShape();
        return new Size((int) shape.get(2), (int) shape.get(3));
    }
}

package dev.saccade.models.segmentation;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.structures.Size;

import java.util.function.UnaryOperator;

/**
 * The scores of the pixels of an image in the order of mmsegmentation: the scores of the network
 * are resized to the size of its input, then to the requested size.
 *
 * @param network {@code [1, 3, H, W]} to {@code [1, K, h, w]}
 * @param alignCorners how scores are resized
 */
public record ScoreMaps(UnaryOperator<NDArray> network, boolean alignCorners) {

    /**
     * Runs the network on a whole image, mmsegmentation's test mode {@code whole}.
     *
     * @param pixels {@code [1, 3, H, W]}, closed
     */
    public ScoreMap whole(NDArray pixels, Size wanted) {
        return scores(pixels).resize(wanted, alignCorners);
    }

    /**
     * Runs the network on each window when a tile of its rows is requested.
     *
     * @param pixels {@code [1, 3, H, W]}, closed with the scores
     */
    public ScoreMap sliding(NDArray pixels, SlidingWindow window, int numClasses, Size wanted) {
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
                .resize(wanted, alignCorners);
    }

    /** Returns the scores at the size of the input. Closes the input. */
    private ScoreMap scores(NDArray pixels) {
        try (pixels) {
            return ScoreMap.of(network.apply(pixels)).resize(size(pixels), alignCorners);
        }
    }

    /** Returns height and width of {@code [1, 3, H, W]}. */
    static Size size(NDArray pixels) {
        Shape shape = pixels.getShape();
        return new Size((int) shape.get(2), (int) shape.get(3));
    }
}

package dev.saccade.models.segmentation;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.structures.Size;

/** Scores as a network gives them. */
final class LogitMap implements ScoreMap {

    private final NDArray tokens;

    /**
     * Takes scores over.
     *
     * @param logits {@code [1, K, h, w]}, freed
     */
    LogitMap(NDArray logits) {
        try (logits;
                NDArray map = logits.squeeze(0);
                NDArray view = map.transpose(1, 2, 0)) {
            tokens = Functional.contiguous(view);
        }
    }

    @Override
    public Size size() {
        return new Size((int) tokens.getShape().get(0), (int) tokens.getShape().get(1));
    }

    @Override
    public int numClasses() {
        return (int) tokens.getShape().get(2);
    }

    @Override
    public NDManager manager() {
        return tokens.getManager();
    }

    @Override
    public NDArray part(Tile tile) {
        return tokens.get(tile.index());
    }

    @Override
    public void close() {
        tokens.close();
    }
}

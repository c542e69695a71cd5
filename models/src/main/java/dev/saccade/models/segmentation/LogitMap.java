package dev.saccade.models.segmentation;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

import dev.saccade.core.ops.script.Script;
import dev.saccade.core.structures.Size;

/** Scores as a network gives them. */
final class LogitMap implements ScoreMap {

    private static final Script TOKENS =
            Script.compile(
                    "(logits: Tensor) -> Tensor",
                    "return torch.contiguous(torch.permute(torch.squeeze(logits, 0), [1, 2, 0]))");

    private final NDArray tokens;

    /**
     * Takes scores over.
     *
     * @param logits {@code [1, K, h, w]}, freed
     */
    LogitMap(NDArray logits) {
        tokens = TOKENS.run(logits);
        logits.close();
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

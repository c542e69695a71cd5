package dev.saccade.models.segmentation;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Tensors;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Mean logits over sliding windows; caches only windows that overlap the last requested rows. */
final class SlidingMap implements AutoCloseable {

    private final List<Tile> windows;
    private final Function<Tile, ScoreMap> scores;
    private final Map<Tile, ScoreMap> computed = new HashMap<>();

    SlidingMap(List<Tile> windows, Function<Tile, ScoreMap> scores) {
        this.windows = windows;
        this.scores = scores;
    }

    /** Returns the mean logits of a tile, {@code [height, width, K]}. */
    NDArray part(Tile tile, NDManager manager, int numClasses) {
        free(tile.top(), tile.bottom());
        int height = tile.size().height();
        int width = tile.size().width();
        float[] counts = new float[height * width];
        NDArray sums = manager.zeros(new Shape(height, width, numClasses));
        for (Tile window : windows) {
            if (window.overlaps(tile)) {
                Tile common = window.intersection(tile);
                Tile place = common.from(tile.top(), tile.left());
                for (int y = place.top(); y < place.bottom(); y++) {
                    for (int x = place.left(); x < place.right(); x++) {
                        counts[y * width + x]++;
                    }
                }
                ScoreMap map = computed.computeIfAbsent(window, scores);
                try (NDArray part = map.part(common.from(window.top(), window.left()));
                        NDArray sum = sums.get(place.index())) {
                    sum.addi(part);
                }
            }
        }
        try (NDArray count = Tensors.of(manager, counts, new Shape(height, width, 1))) {
            return sums.divi(count);
        }
    }

    /** Closes the cached windows outside these rows. */
    private void free(int top, int bottom) {
        for (Tile window : List.copyOf(computed.keySet())) {
            if (window.bottom() <= top || window.top() >= bottom) {
                computed.remove(window).close();
            }
        }
    }

    @Override
    public void close() {
        free(0, 0);
    }
}

package dev.saccade.core.ops.attention;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Map;
import java.util.stream.IntStream;

/**
 * Keys of a window in focal attention (Yang et al. 2021, first version of the official code): the
 * window itself, a ring of tokens around it and, for each level, a square of cells, each pooled
 * from a part of a window.
 *
 * <p>The ring wraps around the map. The original builds it from four copies of the map, shifted by
 * {@code expand} along both diagonals. If the window is wider than {@code 2 expand}, copies
 * overlap: the tokens in the middle of each side of the ring count twice, with different biases. If
 * the window is narrower, the tokens between two copies are missing.
 *
 * @param window tokens along a side of a window
 * @param shift cyclic shift of the windows, less than {@code window}
 * @param expand width of the ring, at most {@code window}; 0 for none
 * @param focalWindow cells along a side of the square of level 0, odd
 * @param pooledLevels number of pooled levels; level k has {@code 2^k} by {@code 2^k} cells per
 *     window
 * @param maskWrapped whether ring tokens that wrapped around the map are masked with -100; the
 *     original does not mask them
 */
public record FocalRegion(
        int window, int shift, int expand, int focalWindow, int pooledLevels, boolean maskWrapped) {

    /** Value added to the logits of masked keys. */
    static final float UNSEEN = -100;

    private static final ScriptTemplate KEYS = ScriptTemplate.read(FocalRegion.class, "keys");

    private static final ScriptTemplate SHIFTED = ScriptTemplate.read(FocalRegion.class, "shifted");

    public FocalRegion {
        checkArgument(
                window > 0 && shift >= 0 && shift < window,
                "got window %s and shift %s," + " expected 0 <= shift < window",
                window,
                shift);
        checkArgument(
                expand >= 0 && expand <= window,
                "got expand %s and window %s, expected 0" + " <= expand <= window",
                expand,
                window);
        checkArgument(
                focalWindow % 2 == 1, "focal window: got %s, expected an odd number", focalWindow);
        checkArgument(
                pooledLevels >= 0 && 1 << pooledLevels <= 2 * window,
                "got %s pooled levels, which is too many for window %s",
                pooledLevels,
                window);
    }

    public Windows windows() {
        return new Windows(window, shift);
    }

    public int area() {
        return window * window;
    }

    /** Returns the number of tokens along a side of a window with its ring. */
    public int side() {
        return window + 2 * expand;
    }

    /** Returns the number of ring biases per query; tokens in two copies count twice. */
    public int neighbors() {
        return 4 * (area() - (window - expand) * (window - expand));
    }

    /** Returns the number of cells along a side of the square of a level; levels start at 0. */
    public int cells(int level) {
        return focalWindow - 1 + (1 << level);
    }

    /** Returns the number of keys per query: tokens of window and ring, and cells of all levels. */
    public int keys() {
        int pooled = IntStream.range(0, pooledLevels).map(k -> cells(k) * cells(k)).sum();
        return side() * side() + pooled;
    }

    /** Returns the index of the first key that may be masked. */
    int firstMasked() {
        return maskWrapped || shift > 0 ? 0 : side() * side();
    }

    /**
     * Returns the keys of every window of an arranged map {@code [N, H', W', C]}.
     *
     * @return {@code [windows, keys]}: 0 for a cell outside the grid, else the 1-based position in
     *     the list of all tokens of the map, followed by the cells of each level, row-major; and
     *     the mask {@code [windows, 1 or area, keys]} to add to the logits
     */
    NDList keys(NDArray arranged) {
        NDList found =
                KEYS.with(
                                Map.of(
                                        "window", window,
                                        "expand", expand,
                                        "reach", focalWindow / 2,
                                        "levels", pooledLevels,
                                        "mask_wrapped", maskWrapped ? 1 : 0,
                                        "unseen", UNSEEN))
                        .runAll(arranged);
        return shift == 0 ? found : new NDList(found.get(0), shifted(arranged, found.get(1)));
    }

    private NDArray shifted(NDArray arranged, NDArray mask) {
        return SHIFTED.with(Map.of("window", window, "expand", expand))
                .run(mask, windows().mask(arranged, UNSEEN));
    }
}

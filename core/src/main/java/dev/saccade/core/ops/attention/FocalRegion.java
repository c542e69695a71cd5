package dev.saccade.core.ops.attention;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Map;
import java.util.stream.IntStream;

/**
 * What the tokens of a window attend to in focal attention (Yang et al. 2021, the official code of
 * the first version): the window itself, a ring of tokens around it and, level by level, a square
 * of cells, each of them pooled from a part of a window.
 *
 * <p>The ring wraps around the map, so on a map of one window it is made of that window. The
 * original takes it from four copies of the map, shifted by {@code expand} along both diagonals.
 * Where windows are wider than twice that, copies overlap: the tokens in the middle of each side of
 * the ring count twice, each time with a bias of its own. Where they are narrower, the tokens
 * between two copies are not seen.
 *
 * @param window tokens along a side of a window
 * @param shift how far windows are shifted, less than {@code window}
 * @param expand width of the ring, at most {@code window}; 0 for none
 * @param focalWindow pooled windows along a side of the square, an odd number
 * @param pooledLevels how many squares there are; that of level k has {@code 2^k} by {@code 2^k}
 *     cells for each window
 * @param maskWrapped whether tokens of the ring from the other side of the map get -100 on their
 *     logits; the original sees them like all others
 */
public record FocalRegion(
        int window, int shift, int expand, int focalWindow, int pooledLevels, boolean maskWrapped) {

    /** What is added to the logit of a key that is not to be seen. */
    static final float UNSEEN = -100;

    private static final ScriptTemplate KEYS = ScriptTemplate.read(FocalRegion.class, "keys");

    private static final ScriptTemplate SHIFTED = ScriptTemplate.read(FocalRegion.class, "shifted");

    /** Checks the numbers. */
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

    /** Returns how a map is cut. */
    public Windows windows() {
        return new Windows(window, shift);
    }

    /** Returns the number of tokens of a window. */
    public int area() {
        return window * window;
    }

    /** Returns the number of tokens along a side of a window with its ring. */
    public int side() {
        return window + 2 * expand;
    }

    /** Returns the number of biases that a query has for tokens of the ring. */
    public int neighbors() {
        return 4 * (area() - (window - expand) * (window - expand));
    }

    /** Returns the number of cells along a side of the square of a level, counted from 0. */
    public int cells(int level) {
        return focalWindow - 1 + (1 << level);
    }

    /** Returns the number of keys of a query: tokens, then the cells of every level. */
    public int keys() {
        int pooled = IntStream.range(0, pooledLevels).map(k -> cells(k) * cells(k)).sum();
        return side() * side() + pooled;
    }

    /** Returns the number of keys before the first that a mask may touch. */
    int firstMasked() {
        return maskWrapped || shift > 0 ? 0 : side() * side();
    }

    /**
     * Finds the keys of every window.
     *
     * @param arranged {@code [N, H', W', C]}, arranged by the windows
     * @return {@code [windows, keys]}: 0 for a cell outside of the grid, 1 for the first token of
     *     the map, then its tokens and the cells of each level, row-major; and {@code [windows, 1
     *     or area, keys]} to be added to the logits
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

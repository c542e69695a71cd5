package dev.saccade.core.ops.attention;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Position bias of the queries of a window for all keys of its {@link FocalRegion}, from the tables
 * of the official code.
 *
 * <p>Keys that occur twice in the original, with biases a and b, occur once with the bias {@code
 * log(e^a + e^b)}, which gives the same attention.
 */
public final class FocalBias {

    /** Bias of ring tokens that are in none of the shifted copies; their attention becomes 0. */
    private static final float ABSENT = -1e9f;

    private static final ScriptTemplate RING = ScriptTemplate.read(FocalBias.class, "ring");

    private static final ScriptTemplate FUSED =
            ScriptTemplate.of(
                    "(tables: List[Tensor]) -> Tensor",
                    "return ops.saccade.focal_bias(tables, {window}, {expand})");

    private FocalBias() {}

    /**
     * Looks up the bias.
     *
     * @param region the keys of a window of {@code M x M} tokens
     * @param own {@code [(2 M - 1)^2, heads]}, see {@link RelativePositionBias#ofWindow}
     * @param neighbors {@code [1, heads, M^2, neighbors]} if there is a ring: biases for the tokens
     *     outside the window in the copies of the map shifted to the top left, top right, bottom
     *     left and bottom right, each row-major
     * @param windows {@code [heads, (M + cells - 1)^2]} for each level, see {@link
     *     RelativePositionBias#ofCells}
     * @return {@code [heads, M^2, keys]}: the window and its ring row-major, then the cells of
     *     every level row-major
     */
    public static NDArray lookUp(
            FocalRegion region, NDArray own, Optional<NDArray> neighbors, List<NDArray> windows) {
        return Kernels.isFusedForFloat32OnCpu(own)
                ? fused(region, own, neighbors, windows)
                : portable(region, own, neighbors, windows);
    }

    static NDArray fused(
            FocalRegion region, NDArray own, Optional<NDArray> neighbors, List<NDArray> windows) {
        List<NDArray> tables = new ArrayList<>(List.of(own));
        neighbors.ifPresent(tables::add);
        tables.addAll(windows);
        return FUSED.with(Map.of("window", region.window(), "expand", region.expand()))
                .runLists(List.of(tables))
                .singletonOrThrow();
    }

    static NDArray portable(
            FocalRegion region, NDArray own, Optional<NDArray> neighbors, List<NDArray> windows) {
        int m = region.window();
        NDArray within = RelativePositionBias.ofWindow(own, m, m);
        NDList parts = new NDList(1 + windows.size());
        Script ring = RING.with(Map.of("window", m, "expand", region.expand(), "absent", ABSENT));
        parts.add(neighbors.map(n -> ring.run(within, n)).orElse(within));
        windows.forEach(table -> parts.add(RelativePositionBias.ofCells(table, m)));
        return Tensors.concat(parts, 2);
    }
}

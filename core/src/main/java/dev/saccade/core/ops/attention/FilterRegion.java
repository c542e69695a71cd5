package dev.saccade.core.ops.attention;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Where the filter of a query applies, in the unified view of local self-attention, depth-wise
 * convolution and dynamic filters (Zhou et al. 2021, Eq. 4): {@code f_i = sum_j Norm(q_i k_j + q_i
 * rk_(j-i) + rq_(j-i) k_j + rb_(j-i)) v_j} over the keys j of a region around i, for every head.
 *
 * <p>What the methods call values is {@code [..., keys]}, a number for each key of every query and
 * head; tables of relative positions have {@link #offsets} entries in their last axis.
 */
public interface FilterRegion {

    /** Zeros in the type of a part. */
    ScriptTemplate ZEROS =
            ScriptTemplate.of(
                    "(x: Tensor) -> Tensor",
                    "return torch.new_zeros(x, torch.slice(torch.size(x), 0, 4) + [{keys}])");

    /** Returns the number of keys of a query. */
    int keys();

    /** Returns the number of relative positions of keys to queries. */
    int offsets();

    /**
     * Brings the tokens of a map into the order that the region cuts.
     *
     * @param map {@code [N, H, W, C]}
     */
    NDArray arrange(NDArray map);

    /**
     * Cuts an arranged map into what the other methods take for queries, keys and values.
     *
     * @param map {@code [N, H', W', parts * heads * d]}
     * @return for each part an array whose last axis is d
     */
    List<NDArray> split(NDArray map, int parts, int heads);

    /** Returns values of 0 that may be overwritten, one for each key of the queries in a part. */
    default NDArray zeros(NDArray part) {
        return ZEROS.with(Map.of("keys", keys())).run(part);
    }

    /** Returns values {@code q_i k_j} that may be overwritten. */
    NDArray products(NDArray q, NDArray k);

    /**
     * Returns values {@code q_i rk_(j-i)}.
     *
     * @param rk {@code [heads, d, offsets]}
     */
    NDArray ofQueries(NDArray q, NDArray rk);

    /**
     * Returns values {@code rq_(j-i) k_j}.
     *
     * @param rq {@code [heads, d, offsets]}
     */
    NDArray ofKeys(NDArray k, NDArray rq);

    /**
     * Returns values {@code rb_(j-i)} for one map, to be broadcast.
     *
     * @param rb {@code [heads, offsets]}
     */
    NDArray ofOffsets(NDArray rb);

    /**
     * Returns where keys are none of a query's although the region has them: 1 there, 0 elsewhere,
     * to be broadcast with values; empty where there are none such.
     *
     * @param arranged the arranged map
     */
    Optional<NDArray> unseen(NDArray arranged);

    /**
     * Sums values by filters and puts them back in their places.
     *
     * @param filters shaped as values are
     * @param map the shape {@code [N, H, W, ...]} of the map before it was arranged
     * @return {@code [N, H, W, heads * d]}
     */
    NDArray apply(NDArray filters, NDArray v, Shape map);
}

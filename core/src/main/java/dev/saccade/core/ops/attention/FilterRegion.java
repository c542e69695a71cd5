package dev.saccade.core.ops.attention;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Region of a dynamic filter, in the unified view of local self-attention, depth-wise convolution
 * and dynamic filters (Zhou et al. 2021, Eq. 4): {@code f_i = sum_j Norm(q_i k_j + q_i rk_(j-i) +
 * rq_(j-i) k_j + rb_(j-i)) v_j} over the keys j of a region around i, per head.
 *
 * <p>Filters and their summands are {@code [..., keys]}: a number for each query, head and key. The
 * tables of relative positions, rk, rq and rb, have {@link #offsets} entries in their last axis.
 */
public interface FilterRegion {

    /** Creates a filter of zeros in the data type of {@code x}. */
    ScriptTemplate ZEROS =
            ScriptTemplate.of(
                    "(x: Tensor) -> Tensor",
                    "return torch.new_zeros(x, torch.slice(torch.size(x), 0, 4) + [{keys}])");

    /** Returns the number of keys per query. */
    int keys();

    /** Returns the number of relative positions. */
    int offsets();

    /** Prepares a map {@code [N, H, W, C]} for {@link #split}, for example pads and shifts it. */
    NDArray arrange(NDArray map);

    /**
     * Splits an arranged map {@code [N, H', W', parts * heads * d]}; the last axis of a part is d.
     */
    List<NDArray> split(NDArray map, int parts, int heads);

    /** Returns a filter of zeros for queries from {@link #split}; the caller may overwrite it. */
    default NDArray zeros(NDArray part) {
        return ZEROS.with(Map.of("keys", keys())).run(part);
    }

    /** Returns {@code q_i k_j}; the caller may overwrite the result. */
    NDArray products(NDArray q, NDArray k);

    /** Returns {@code q_i rk_(j-i)} for a table {@code [heads, d, offsets]}. */
    NDArray ofQueries(NDArray q, NDArray rk);

    /** Returns {@code rq_(j-i) k_j} for a table {@code [heads, d, offsets]}. */
    NDArray ofKeys(NDArray k, NDArray rq);

    /** Returns {@code rb_(j-i)} for a table {@code [heads, offsets]}; broadcastable. */
    NDArray ofOffsets(NDArray rb);

    /** Returns 1 for masked keys of an arranged map, else 0 (broadcastable); empty for none. */
    Optional<NDArray> mask(NDArray arranged);

    /**
     * Sums {@code v} weighted by filters and undoes {@link #arrange}.
     *
     * @param map shape {@code [N, H, W, ...]} before {@link #arrange}
     * @return {@code [N, H, W, heads * d]}
     */
    NDArray apply(NDArray filters, NDArray v, Shape map);
}

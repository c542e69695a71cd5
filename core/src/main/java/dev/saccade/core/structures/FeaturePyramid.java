package dev.saccade.core.structures;

import ai.djl.ndarray.NDArray;

import com.google.common.collect.ImmutableList;

import java.util.List;

/**
 * Feature maps of a batch, from fine to coarse.
 *
 * @param levels {@code [N, C_l, H_l, W_l]} each
 */
public record FeaturePyramid(List<NDArray> levels) {

    /** Keeps a copy of the list. */
    public FeaturePyramid {
        levels = ImmutableList.copyOf(levels);
    }

    /** Returns the number of levels. */
    public int size() {
        return levels.size();
    }

    /** Returns level {@code l}, 0 being the finest. */
    public NDArray get(int l) {
        return levels.get(l);
    }
}

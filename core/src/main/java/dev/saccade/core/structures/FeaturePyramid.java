package dev.saccade.core.structures;

import ai.djl.ndarray.NDArray;

import com.google.common.collect.ImmutableList;

import java.util.List;

/** Feature maps {@code [N, C_l, H_l, W_l]} of a batch, from fine to coarse. */
public record FeaturePyramid(List<NDArray> levels) {

    public FeaturePyramid {
        levels = ImmutableList.copyOf(levels);
    }

    public int size() {
        return levels.size();
    }

    /** Returns level {@code l}; level 0 is the finest. */
    public NDArray get(int l) {
        return levels.get(l);
    }
}

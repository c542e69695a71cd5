package dev.saccade.backbones;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Default;

import java.util.List;

/**
 * Stage settings shared by all {@link StagedTransformer}s.
 *
 * @param depths blocks of each stage
 * @param dropPathRate stochastic depth rate of the last block; increases linearly from 0
 * @param outIndices output stages, 0 to 3, ascending
 * @param outputNorms whether to normalize each output; false for classifiers, whose head has the
 *     norm. PVT has no output norms
 * @param frozenStages -1: none, 0: the stem, k: the stem and stages 1 to k
 * @param activationCheckpointing whether to recompute blocks in the backward pass
 */
public record StageSettings(
        @Default("[2, 2, 6, 2]") List<Integer> depths,
        @Default("0.2") double dropPathRate,
        @Default("[0, 1, 2, 3]") List<Integer> outIndices,
        @Default("true") boolean outputNorms,
        @Default("-1") int frozenStages,
        @Default("false") boolean activationCheckpointing) {

    public StageSettings {
        depths = ImmutableList.copyOf(depths);
        outIndices = ImmutableList.copyOf(outIndices);
        int stages = StagedTransformer.STAGES;
        new Checks()
                .each("depths", depths, stages, 1, 500)
                .below("drop_path_rate", dropPathRate, 0, 1)
                .size("out_indices", outIndices, 1, stages)
                .each("out_indices", outIndices, 0, stages - 1)
                .ascending("out_indices", outIndices)
                .inRange("frozen_stages", frozenStages, -1, stages)
                .throwIfAny();
    }

    double dropPathRate(int stage, int block) {
        int before = depths.stream().limit(stage).mapToInt(Integer::intValue).sum();
        int all = depths.stream().mapToInt(Integer::intValue).sum();
        return all == 1 ? 0 : dropPathRate * (before + block) / (all - 1);
    }
}

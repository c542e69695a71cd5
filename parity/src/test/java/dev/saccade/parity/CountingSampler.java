package dev.saccade.parity;

import dev.saccade.core.components.Component;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.ComponentProvider;
import dev.saccade.heads.box.Assignment;
import dev.saccade.heads.box.BaseSampler;
import dev.saccade.heads.box.SamplingResult;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** A sampler that counts its samples. */
@Component("counting")
record CountingSampler(BaseSampler sampler) implements BaseSampler {

    /** Numbers of positives and negatives of each call since {@link #takeCounts}. */
    private static final List<double[]> COUNTS = new ArrayList<>();

    public static final class Provider implements ComponentProvider {

        @Override
        public List<Class<? extends ComponentConfig>> components() {
            return List.of(CountingSampler.class);
        }
    }

    /** Returns and clears the counts, [calls, 2]. */
    static NumpyArray takeCounts() {
        double[] counts = COUNTS.stream().flatMapToDouble(Arrays::stream).toArray();
        COUNTS.clear();
        return NumpyArray.of(counts).reshape(counts.length / 2, 2);
    }

    @Override
    public SamplingResult sample(Assignment assignment, SplittableRandom random) {
        SamplingResult drawn = sampler.sample(assignment, random);
        COUNTS.add(new double[] {drawn.posMask().sum().getLong(), drawn.negMask().sum().getLong()});
        return drawn;
    }

    @Override
    public int num() {
        return sampler.num();
    }

    @Override
    public int numPos() {
        return sampler.numPos();
    }

    @Override
    public boolean addGtAsProposals() {
        return sampler.addGtAsProposals();
    }
}

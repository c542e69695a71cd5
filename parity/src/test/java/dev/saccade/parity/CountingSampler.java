package dev.saccade.parity;

import dev.saccade.core.parts.Part;
import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.parts.PartProvider;
import dev.saccade.heads.box.Assignment;
import dev.saccade.heads.box.BaseSampler;
import dev.saccade.heads.box.SamplingResult;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A sampler whose draws are counted.
 *
 * @param sampler what draws
 */
@Part("counting")
record CountingSampler(BaseSampler sampler) implements BaseSampler {

    /** The numbers of positives and of negatives of every draw since they were last taken. */
    private static final List<double[]> COUNTS = new ArrayList<>();

    /** Makes the sampler known. */
    public static final class Provider implements PartProvider {

        @Override
        public List<Class<? extends PartConfig>> parts() {
            return List.of(CountingSampler.class);
        }
    }

    /** Returns the counts, [draws, 2], and begins anew. */
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

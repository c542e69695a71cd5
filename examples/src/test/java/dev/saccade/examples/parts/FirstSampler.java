package dev.saccade.examples.parts;

import dev.saccade.core.Checks;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Part;
import dev.saccade.heads.box.Assignment;
import dev.saccade.heads.box.Sampler;
import dev.saccade.heads.box.SamplingResult;

import java.util.Arrays;
import java.util.SplittableRandom;

/** Trains the first of all priors. */
@Part("first")
public record FirstSampler(@Default("8") int num) implements Sampler {

    public FirstSampler {
        new Checks().within("num", num, 1, 1000).throwIfAny();
    }

    @Override
    public SamplingResult sample(Assignment assignment, SplittableRandom random) {
        int[] positives = Arrays.stream(assignment.positives()).limit(num / 2).toArray();
        int[] negatives =
                Arrays.stream(assignment.negatives()).limit(num - positives.length).toArray();
        return new SamplingResult(positives, negatives, true);
    }
}

package dev.saccade.examples.components;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.heads.box.Assignment;
import dev.saccade.heads.box.BaseSampler;
import dev.saccade.heads.box.SamplingResult;

import java.util.Map;
import java.util.SplittableRandom;

/** Samples the first priors. */
@Component("first")
public record FirstSampler(@Default("8") int num) implements BaseSampler {

    private static final ScriptTemplate FIRST =
            ScriptTemplate.of(
                    "(mask: Tensor) -> Tensor",
                    "return torch.logical_and(mask, torch.le(torch.cumsum(mask, 0), {most}))");

    public FirstSampler {
        new Checks().inRange("num", num, 1, 1000).throwIfAny();
    }

    @Override
    public SamplingResult sample(Assignment assignment, SplittableRandom random) {
        NDArray positives = first(assignment.posMask(), num / 2);
        NDArray negatives = first(assignment.negMask(), num - num / 2);
        return new SamplingResult(positives, negatives, true);
    }

    private static NDArray first(NDArray mask, int most) {
        return FIRST.with(Map.of("most", most)).run(mask);
    }
}

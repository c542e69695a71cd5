package dev.saccade.heads.box;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Map;
import java.util.SplittableRandom;

/**
 * Samples priors at random, like mmdetection's {@code RandomSampler}. Losses are averaged over all
 * samples.
 *
 * @param num priors per image
 * @param negPosUb maximum number of negatives per positive; below 0 for no limit
 */
@Component("random")
public record RandomSampler(
        @Default("512") int num,
        @Default("0.25") double posFraction,
        @Default("-1") double negPosUb,
        @Default("true") boolean addGtAsProposals)
        implements BaseSampler {

    /**
     * Ranks priors by a hash of seed and index (Wellons' lowbias32 without the last step, which
     * changes only low bits), with the index in the low bits to avoid ties; selects the priors with
     * the largest hashes. Integer arithmetic gives the same result on every device.
     */
    private static final ScriptTemplate SAMPLE =
            ScriptTemplate.of(
                    "(gt_inds: Tensor, seed: Tensor) -> Tuple[Tensor, Tensor]",
                    """
                    n = torch.size(gt_inds, 0)
                    place = torch.arange(n, dtype=4, device=gt_inds.device)
                    h = torch.add(place, seed)
                    h = torch.bitwise_xor_(h, torch.bitwise_right_shift(h, 16))
                    h = torch.bitwise_and_(torch.mul_(h, 2146121005), 4294967295)
                    h = torch.bitwise_xor_(h, torch.bitwise_right_shift(h, 15))
                    h = torch.bitwise_and_(torch.mul_(h, 2221713035), 4294967295)
                    key = torch.add_(torch.bitwise_left_shift_(h, 31), place)
                    most = {num}
                    if most > n:
                      most = n
                    most_pos = {most_pos}
                    if most_pos > n:
                      most_pos = n
                    pos = torch.where(torch.gt(gt_inds, 0), key, -1)
                    best, at = torch.topk(pos, most_pos, 0, True, True)
                    chosen = torch.ge(best, 0)
                    none = torch.zeros([n], dtype=11, device=gt_inds.device)
                    pos_mask = torch.scatter(none, 0, at, chosen)
                    number = torch.count_nonzero(chosen)
                    left = torch.rsub(number, {num})
                    if {neg_pos_ub} >= 0.:
                      bound = torch.floor(torch.mul(torch.to(torch.clamp(number, 1), 7), {neg_pos_ub}))
                      left = torch.minimum(left, torch.to(bound, 4))
                    neg = torch.where(torch.eq(gt_inds, 0), key, -1)
                    best, at = torch.topk(neg, most, 0, True, True)
                    rank = torch.arange(most, dtype=4, device=gt_inds.device)
                    chosen = torch.logical_and(torch.ge(best, 0), torch.lt(rank, left))
                    neg_mask = torch.scatter(none, 0, at, chosen)
                    return (pos_mask, neg_mask)
                    """);

    public RandomSampler {
        new Checks()
                .inRange("num", num, 1, 100_000_000)
                .inRange("pos_fraction", posFraction, 0, 1)
                .inRange("neg_pos_ub", negPosUb, -1, 100_000_000)
                .throwIfAny();
    }

    @Override
    public SamplingResult sample(Assignment assignment, SplittableRandom random) {
        NDArray gtInds = assignment.gtInds();
        long[] seed = {random.nextLong() >>> 33};
        NDArray seeds = Tensors.of(gtInds.getManager(), seed, new Shape(1));
        NDList masks =
                SAMPLE.with(
                                Map.of(
                                        "num", num,
                                        "most_pos", numPos(),
                                        "neg_pos_ub", negPosUb))
                        .runAll(gtInds, seeds);
        return new SamplingResult(masks.get(0), masks.get(1), true);
    }

    @Override
    public int numPos() {
        return (int) (num * posFraction);
    }
}

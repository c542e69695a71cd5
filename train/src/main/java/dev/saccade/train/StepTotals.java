package dev.saccade.train;

import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Maps;
import com.google.common.collect.Sets;

import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.train.checkpoint.RankMessages;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Totals of a step over all ranks, without the gradients.
 *
 * @param losses loss terms, summed over images
 * @param metrics metrics, summed over images
 * @param withGradient names of parameters with a gradient on any rank
 * @param learningRate of rank 0
 */
record StepTotals(
        int images,
        Map<String, Double> losses,
        Map<String, Double> metrics,
        Set<String> withGradient,
        boolean isFinite,
        double learningRate) {

    /** Returns the sums over all batches of all ranks. */
    static StepTotals of(
            List<StepMetrics.BatchValues> batches,
            Set<String> withGradient,
            double learningRate,
            ProcessGroup ranks) {
        StepTotals own = new StepTotals(0, Map.of(), Map.of(), withGradient, true, learningRate);
        for (StepMetrics.BatchValues batch : batches) {
            int count = batch.batch().images().size();
            own =
                    own.plus(
                            new StepTotals(
                                    count,
                                    Maps.transformValues(batch.losses(), loss -> loss * count),
                                    Maps.transformValues(batch.metrics(), value -> value * count),
                                    Set.of(),
                                    batch.isFinite(),
                                    learningRate));
        }
        return RankMessages.allGather(ranks, StepTotals.class, own).stream()
                .reduce(StepTotals::plus)
                .orElseThrow();
    }

    private StepTotals plus(StepTotals later) {
        return new StepTotals(
                images + later.images,
                sum(losses, later.losses),
                sum(metrics, later.metrics),
                ImmutableSet.copyOf(Sets.union(withGradient, later.withGradient)),
                isFinite && later.isFinite,
                learningRate);
    }

    private static Map<String, Double> sum(Map<String, Double> a, Map<String, Double> b) {
        Map<String, Double> sum = new LinkedHashMap<>(a);
        b.forEach((name, value) -> sum.merge(name, value, Double::sum));
        return sum;
    }

    Map<String, Double> means(Map<String, Double> sums) {
        return new LinkedHashMap<>(Maps.transformValues(sums, sum -> sum / images));
    }
}

package dev.saccade.train;

import com.google.common.collect.Maps;
import com.google.common.primitives.Longs;

import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.train.checkpoint.RankMessages;

import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Results of a step that all ranks share, besides gradients.
 *
 * @param images trained on
 * @param losses of the batches by term, times their images
 * @param metrics of the batches by name, times their images
 * @param withGradient a bit for each parameter, set if it has a gradient on any rank
 * @param isFinite whether the losses and gradients of every batch are
 * @param learningRate of rank 0
 */
record StepTotals(
        int images,
        Map<String, Double> losses,
        Map<String, Double> metrics,
        List<Long> withGradient,
        boolean isFinite,
        double learningRate) {

    /** Returns the sums over the batches of all ranks. */
    static StepTotals of(
            List<StepMetrics.OfBatch> batches,
            BitSet withGradient,
            double learningRate,
            ProcessGroup ranks) {
        Map<String, Double> losses = new LinkedHashMap<>();
        Map<String, Double> metrics = new LinkedHashMap<>();
        int images = 0;
        for (StepMetrics.OfBatch batch : batches) {
            int weight = batch.batch().images().size();
            batch.losses().forEach((name, x) -> losses.merge(name, x * weight, Double::sum));
            batch.metrics().forEach((name, x) -> metrics.merge(name, x * weight, Double::sum));
            images += weight;
        }
        boolean isFinite = batches.stream().allMatch(StepMetrics.OfBatch::isFinite);
        List<Long> bits = Longs.asList(withGradient.toLongArray());
        StepTotals own = new StepTotals(images, losses, metrics, bits, isFinite, learningRate);
        return RankMessages.allGather(ranks, StepTotals.class, own).stream()
                .reduce(StepTotals::plus)
                .orElseThrow();
    }

    private StepTotals plus(StepTotals later) {
        Map<String, Double> allLosses = new LinkedHashMap<>(losses);
        Map<String, Double> allMetrics = new LinkedHashMap<>(metrics);
        later.losses.forEach((name, x) -> allLosses.merge(name, x, Double::sum));
        later.metrics.forEach((name, x) -> allMetrics.merge(name, x, Double::sum));
        BitSet all = parameters();
        all.or(later.parameters());
        return new StepTotals(
                images + later.images,
                allLosses,
                allMetrics,
                Longs.asList(all.toLongArray()),
                isFinite && later.isFinite,
                learningRate);
    }

    /** Returns the positions of the parameters with a gradient. */
    BitSet parameters() {
        return BitSet.valueOf(Longs.toArray(withGradient));
    }

    /** Returns means over the images. */
    Map<String, Double> means(Map<String, Double> sums) {
        return new LinkedHashMap<>(Maps.transformValues(sums, sum -> sum / images));
    }
}

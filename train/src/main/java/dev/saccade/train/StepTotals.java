package dev.saccade.train;

import com.google.common.collect.Maps;
import com.google.common.io.ByteArrayDataInput;
import com.google.common.io.ByteArrayDataOutput;
import com.google.common.io.ByteStreams;

import dev.saccade.core.distributed.ProcessGroup;

import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What one rank tells the others of a step besides its gradients; {@link #of} is what they all have
 * told.
 *
 * @param images learned from
 * @param losses of the batches by term, times their images
 * @param metrics of the batches by name, times their images
 * @param withGradient the positions of the parameters that have a gradient
 * @param isFinite whether the losses and gradients of every batch are
 * @param learningRate of the step; that of rank 0 counts
 */
record StepTotals(
        int images,
        Map<String, Double> losses,
        Map<String, Double> metrics,
        BitSet withGradient,
        boolean isFinite,
        double learningRate) {

    /** Returns those of the batches of this rank. */
    static StepTotals of(
            List<StepReadings.OfBatch> batches, BitSet withGradient, double learningRate) {
        Map<String, Double> losses = new LinkedHashMap<>();
        Map<String, Double> metrics = new LinkedHashMap<>();
        int images = 0;
        for (StepReadings.OfBatch batch : batches) {
            int weight = batch.batch().images().size();
            batch.losses().forEach((name, x) -> losses.merge(name, x * weight, Double::sum));
            batch.metrics().forEach((name, x) -> metrics.merge(name, x * weight, Double::sum));
            images += weight;
        }
        boolean isFinite = batches.stream().allMatch(StepReadings.OfBatch::isFinite);
        return new StepTotals(images, losses, metrics, withGradient, isFinite, learningRate);
    }

    /** Returns those of all ranks, which each of them has called this for. */
    StepTotals sum(ProcessGroup ranks) {
        return ranks.worldSize() == 1
                ? this
                : ranks.allGather(toBytes()).stream()
                        .map(StepTotals::parse)
                        .reduce(StepTotals::plus)
                        .orElseThrow();
    }

    private StepTotals plus(StepTotals later) {
        Map<String, Double> allLosses = new LinkedHashMap<>(losses);
        Map<String, Double> allMetrics = new LinkedHashMap<>(metrics);
        later.losses.forEach((name, x) -> allLosses.merge(name, x, Double::sum));
        later.metrics.forEach((name, x) -> allMetrics.merge(name, x, Double::sum));
        BitSet all = BitSet.valueOf(withGradient.toLongArray());
        all.or(later.withGradient);
        return new StepTotals(
                images + later.images,
                allLosses,
                allMetrics,
                all,
                isFinite && later.isFinite,
                learningRate);
    }

    /** Returns the means over the images. */
    Map<String, Double> meanLosses() {
        return means(losses);
    }

    /** Returns the means over the images. */
    Map<String, Double> meanMetrics() {
        return means(metrics);
    }

    private Map<String, Double> means(Map<String, Double> sums) {
        return new LinkedHashMap<>(Maps.transformValues(sums, sum -> sum / images));
    }

    private byte[] toBytes() {
        ByteArrayDataOutput out = ByteStreams.newDataOutput();
        out.writeInt(images);
        out.writeBoolean(isFinite);
        out.writeDouble(learningRate);
        MapBytes.write(losses, out, ByteArrayDataOutput::writeDouble);
        MapBytes.write(metrics, out, ByteArrayDataOutput::writeDouble);
        byte[] bits = withGradient.toByteArray();
        out.writeInt(bits.length);
        out.write(bits);
        return out.toByteArray();
    }

    private static StepTotals parse(byte[] bytes) {
        ByteArrayDataInput in = ByteStreams.newDataInput(bytes);
        int images = in.readInt();
        boolean isFinite = in.readBoolean();
        double learningRate = in.readDouble();
        Map<String, Double> losses = MapBytes.read(in, ByteArrayDataInput::readDouble);
        Map<String, Double> metrics = MapBytes.read(in, ByteArrayDataInput::readDouble);
        byte[] bits = new byte[in.readInt()];
        in.readFully(bits);
        BitSet withGradient = BitSet.valueOf(bits);
        return new StepTotals(images, losses, metrics, withGradient, isFinite, learningRate);
    }
}

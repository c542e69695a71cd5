package dev.saccade.examples;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.Evaluation;
import dev.saccade.eval.Evaluator;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;

/** Negated mean absolute error of object counts, and the fraction of correct counts. */
public final class CountingError implements Evaluator<Instances> {

    private static final long UNSEEN = -1;

    /** Settings in {@code evaluation.evaluators}; counts objects with at least {@code minScore}. */
    @Component("counting_error")
    public record Config(@Default("0.5") double minScore) implements Evaluator.Config {

        public Config {
            new Checks().inRange("min_score", minScore, 0, 1).throwIfAny();
        }

        @Override
        public Class<Instances> predictionType() {
            return Instances.class;
        }

        @Override
        public String keyMetric() {
            return "count_accuracy";
        }

        @Override
        public CountingError build(Dataset dataset, TargetKind targets, int threads) {
            return new CountingError(dataset, minScore);
        }
    }

    private final Dataset dataset;
    private final double minScore;
    private final AtomicLongArray errors;

    CountingError(Dataset dataset, double minScore) {
        this.dataset = dataset;
        this.minScore = minScore;
        this.errors = new AtomicLongArray(dataset.size());
        reset();
    }

    @Override
    public Set<String> metrics() {
        return Set.of("neg_counting_error", "count_accuracy");
    }

    @Override
    public void reset() {
        IntStream.range(0, errors.length()).forEach(i -> errors.set(i, UNSEEN));
    }

    @Override
    public void process(int index, Instances predicted) {
        long found =
                IntStream.range(0, predicted.size())
                        .filter(i -> predicted.score(i) >= minScore)
                        .count();
        errors.set(index, Math.abs(found - dataset.annotations(index).size()));
    }

    @Override
    public byte[] state() {
        ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES * errors.length());
        IntStream.range(0, errors.length()).forEach(i -> bytes.putLong(errors.get(i)));
        return bytes.array();
    }

    @Override
    public void mergeState(byte[] state) {
        ByteBuffer bytes = ByteBuffer.wrap(state);
        for (int i = 0; i < errors.length(); i++) {
            long error = bytes.getLong();
            if (error != UNSEEN) {
                errors.set(i, error);
            }
        }
    }

    @Override
    public Evaluation evaluate() {
        long[] all = IntStream.range(0, errors.length()).mapToLong(errors::get).toArray();
        if (IntStream.range(0, all.length).anyMatch(i -> all[i] == UNSEEN)) {
            throw new IllegalStateException("metrics requested before all images were processed");
        }
        double error = IntStream.range(0, all.length).mapToDouble(i -> all[i]).average().orElse(0);
        long right = IntStream.range(0, all.length).filter(i -> all[i] == 0).count();
        return () ->
                Map.of(
                        "neg_counting_error",
                        -error,
                        "count_accuracy",
                        (double) right / Math.max(1, all.length));
    }
}

package dev.saccade.eval;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.common.io.ByteArrayDataInput;
import com.google.common.io.ByteArrayDataOutput;
import com.google.common.io.ByteStreams;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.Dataset;
import dev.saccade.models.ScoreThresholds;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Runs several evaluators on one data set and joins their metrics. */
public final class CompositeEvaluator<P> implements Evaluator<P> {

    private final List<Evaluator<P>> evaluators;

    /** Joins evaluators; their metric names must differ. */
    public CompositeEvaluator(List<? extends Evaluator<P>> evaluators) {
        this.evaluators = ImmutableList.copyOf(evaluators);
    }

    /** Returns the default evaluators, used if {@code evaluation.evaluators} is not set. */
    public static List<Config> defaults(TargetKind targets) {
        return Configs.defaults(Config.class).stream()
                .filter(config -> config.isDefault())
                .filter(config -> config.predictionType() == targets.predictionType())
                .toList();
    }

    /**
     * Builds the evaluators of a data set for a model's prediction type and targets.
     *
     * @throws SaccadeException of kind user, if an evaluator needs other prediction types, or if
     *     two metrics have the same name
     */
    public static <P> CompositeEvaluator<P> build(
            List<Config> configs,
            Class<P> predictionType,
            Dataset dataset,
            TargetKind targets,
            int threads) {
        ImmutableList.Builder<Evaluator<P>> evaluators = ImmutableList.builder();
        Map<String, String> givenBy = new HashMap<>();
        for (Config config : configs) {
            if (config.predictionType() != predictionType) {
                throw SaccadeException.user(
                        "evaluation.evaluators: %s evaluates %s, but the model predicts %s;"
                                + " expected one of %s",
                        config.type(),
                        config.predictionType().getSimpleName(),
                        predictionType.getSimpleName(),
                        evaluatorsFor(predictionType));
            }
            @SuppressWarnings("unchecked") // predictionType was checked
            Evaluator<P> evaluator = (Evaluator<P>) config.build(dataset, targets, threads);
            for (String metric : evaluator.metrics()) {
                String other = givenBy.put(metric, config.type());
                if (other != null) {
                    throw SaccadeException.user(
                            "evaluation.evaluators: %s and %s both define the metric %s; remove"
                                    + " one of them",
                            other, config.type(), metric);
                }
            }
            evaluators.add(evaluator);
        }
        return new CompositeEvaluator<>(evaluators.build());
    }

    private static List<String> evaluatorsFor(Class<?> predictionType) {
        return Configs.defaults(Config.class).stream()
                .filter(config -> config.predictionType() == predictionType)
                .map(Config::type)
                .toList();
    }

    @Override
    public Set<String> metrics() {
        return evaluators.stream()
                .flatMap(evaluator -> evaluator.metrics().stream())
                .collect(ImmutableSet.toImmutableSet());
    }

    @Override
    public void reset() {
        evaluators.forEach(Evaluator::reset);
    }

    @Override
    public void process(int index, P predicted) {
        evaluators.forEach(evaluator -> evaluator.process(index, predicted));
    }

    @Override
    public byte[] state() {
        ByteArrayDataOutput out = ByteStreams.newDataOutput();
        for (Evaluator<P> evaluator : evaluators) {
            byte[] part = evaluator.state();
            out.writeInt(part.length);
            out.write(part);
        }
        return out.toByteArray();
    }

    @Override
    public void mergeState(byte[] state) {
        ByteArrayDataInput in = ByteStreams.newDataInput(state);
        for (Evaluator<P> evaluator : evaluators) {
            byte[] part = new byte[in.readInt()];
            in.readFully(part);
            evaluator.mergeState(part);
        }
    }

    @Override
    public Evaluation evaluate() {
        ImmutableMap.Builder<String, Double> values = ImmutableMap.builder();
        ImmutableList.Builder<Record> records = ImmutableList.builder();
        ImmutableMap.Builder<String, byte[]> pictures = ImmutableMap.builder();
        Optional<ScoreThresholds> thresholds = Optional.empty();
        for (Evaluator<P> evaluator : evaluators) {
            Evaluation evaluation = evaluator.evaluate();
            values.putAll(evaluation.values());
            records.addAll(evaluation.records());
            pictures.putAll(evaluation.pictures());
            thresholds = thresholds.or(evaluation::scoreThresholds);
        }
        return new Joined(
                values.buildOrThrow(), records.build(), pictures.buildOrThrow(), thresholds);
    }

    private record Joined(
            Map<String, Double> values,
            List<Record> records,
            Map<String, byte[]> pictures,
            Optional<ScoreThresholds> scoreThresholds)
            implements Evaluation {}
}

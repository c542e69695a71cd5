package dev.saccade.eval;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.common.io.ByteArrayDataInput;
import com.google.common.io.ByteArrayDataOutput;
import com.google.common.io.ByteStreams;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.TargetKind;
import dev.saccade.datasets.Dataset;
import dev.saccade.models.ScoreThresholds;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Several evaluators of one data set as one: their metrics joined. */
public final class Evaluators<P> implements Evaluator<P> {

    private final List<Evaluator<P>> evaluators;

    /** Joins evaluators, whose metrics have different names. */
    public Evaluators(List<? extends Evaluator<P>> evaluators) {
        this.evaluators = ImmutableList.copyOf(evaluators);
    }

    /** Returns those that measure where a config names none. */
    public static List<Config> standard(TargetKind targets) {
        return Configs.defaults(Config.class).stream()
                .filter(config -> config.isStandard())
                .filter(config -> config.predictionType() == targets.predictionType())
                .toList();
    }

    /**
     * Builds the evaluators of a data set.
     *
     * @param predictionType the class of what the model predicts
     * @param targets what its head has learned
     * @param threads how many share the work of {@link #evaluate}
     * @throws SaccadeException of kind user, if one measures other predictions, or two give a
     *     metric of the same name
     */
    public static <P> Evaluators<P> build(
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
                        "evaluation.evaluators: %s measures %s, but the model predicts %s; expected"
                                + " one of %s",
                        config.type(),
                        config.predictionType().getSimpleName(),
                        predictionType.getSimpleName(),
                        typesFor(predictionType));
            }
            @SuppressWarnings("unchecked") // what the class of its predictions has told
            Evaluator<P> evaluator = (Evaluator<P>) config.build(dataset, targets, threads);
            for (String metric : evaluator.metrics()) {
                String other = givenBy.put(metric, config.type());
                if (other != null) {
                    throw SaccadeException.user(
                            "evaluation.evaluators: %s and %s both give a metric %s; expected"
                                    + " metrics of different names, remove one",
                            other, config.type(), metric);
                }
            }
            evaluators.add(evaluator);
        }
        return new Evaluators<>(evaluators.build());
    }

    private static List<String> typesFor(Class<?> predictionType) {
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
    public byte[] collected() {
        ByteArrayDataOutput out = ByteStreams.newDataOutput();
        for (Evaluator<P> evaluator : evaluators) {
            byte[] part = evaluator.collected();
            out.writeInt(part.length);
            out.write(part);
        }
        return out.toByteArray();
    }

    @Override
    public void merge(byte[] collected) {
        ByteArrayDataInput in = ByteStreams.newDataInput(collected);
        for (Evaluator<P> evaluator : evaluators) {
            byte[] part = new byte[in.readInt()];
            in.readFully(part);
            evaluator.merge(part);
        }
    }

    @Override
    public Evaluation evaluate() {
        ImmutableMap.Builder<String, Double> values = ImmutableMap.builder();
        ImmutableMap.Builder<String, byte[]> pictures = ImmutableMap.builder();
        Optional<ScoreThresholds> thresholds = Optional.empty();
        for (Evaluator<P> evaluator : evaluators) {
            Evaluation evaluation = evaluator.evaluate();
            values.putAll(evaluation.values());
            pictures.putAll(evaluation.pictures());
            thresholds = thresholds.or(evaluation::scoreThresholds);
        }
        return new Joined(values.buildOrThrow(), pictures.buildOrThrow(), thresholds);
    }

    private record Joined(
            Map<String, Double> values,
            Map<String, byte[]> pictures,
            Optional<ScoreThresholds> scoreThresholds)
            implements Evaluation {}
}

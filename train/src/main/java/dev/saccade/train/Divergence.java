package dev.saccade.train;

import static java.util.Comparator.comparing;
import static java.util.Comparator.reverseOrder;
import static java.util.stream.Collectors.joining;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.nn.Precision;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.train.optimizers.Gradients;

import java.nio.FloatBuffer;
import java.util.Map;
import java.util.TreeMap;

/**
 * Explains a loss or gradient that is not finite, with the likely cause.
 *
 * @param iteration number of the step, from 1
 * @param previousNorms gradient norms of the previous step by parameter name
 */
record Divergence(
        long iteration,
        double learningRate,
        Map<String, Float> previousNorms,
        Precision precision) {

    private static final int BLOCKS_SHOWN = 5;

    /** A larger gradient norm in the previous step shows that training had already diverged. */
    private static final float EXPLODED = 1e4f;

    /** Returns the error for users. Only the batch {@code open} still has pixels in memory. */
    SaccadeException toException(StepMetrics.StepValues read, Batch open) {
        for (StepMetrics.BatchValues batch : read.batches()) {
            if (!batch.isFinite()) {
                return explain(problem(batch), batch.batch(), batch.batch() == open);
            }
        }
        return explain(gradientProblem(read.norms()), open, true);
    }

    private static String problem(StepMetrics.BatchValues batch) {
        return batch.hasFiniteLosses()
                ? gradientProblem(batch.norms())
                : batch.losses().entrySet().stream()
                        .map(e -> e.getKey() + " = " + e.getValue())
                        .collect(joining(", ", "the loss is not finite (", ")"));
    }

    private static String gradientProblem(Gradients.Norms norms) {
        return norms.byParameter().entrySet().stream()
                .filter(e -> !Float.isFinite(e.getValue()))
                .limit(BLOCKS_SHOWN)
                .map(Map.Entry::getKey)
                .collect(joining(", ", "the gradient is not finite (parameters: ", ")"));
    }

    private SaccadeException explain(String problem, Batch batch, boolean open) {
        return SaccadeException.user(
                "step %d: %s%n  learning rate: %s%n  images: %s%n  largest gradients in"
                        + " the previous step: %s%n  likely cause: %s%n  the last checkpoint is"
                        + " unchanged",
                iteration,
                problem,
                Text.format("%.3e", learningRate),
                batch.images().stream()
                        .map(image -> image.file() + " (id " + image.id() + ")")
                        .collect(joining(", ")),
                blocks(),
                cause(batch, open));
    }

    private String blocks() {
        Map<String, Double> squares = new TreeMap<>();
        previousNorms.forEach(
                (name, norm) -> squares.merge(block(name), (double) norm * norm, Double::sum));
        return squares.isEmpty()
                ? "none, this is the first step"
                : squares.entrySet().stream()
                        .sorted(comparing(Map.Entry::getValue, reverseOrder()))
                        .limit(BLOCKS_SHOWN)
                        .map(e -> Text.format("%s %.3g", e.getKey(), Math.sqrt(e.getValue())))
                        .collect(joining(", "));
    }

    /** Returns the first two components of a dotted parameter name. */
    private static String block(String name) {
        int second = name.indexOf('.', name.indexOf('.') + 1);
        return second < 0 ? name : name.substring(0, second);
    }

    private String cause(Batch batch, boolean open) {
        for (int i = 0; i < batch.images().size(); i++) {
            if (!allFinite(FloatBuffer.wrap(batch.targets().get(i).boxes().toArray()))) {
                return "a box of " + batch.images().get(i).file() + " is not finite";
            }
        }
        if (open && !allFinite(batch.pixels())) {
            return "the transforms return pixels that are not finite";
        }
        if (precision == Precision.FLOAT16) {
            return "float16 overflows at any loss scale; set precision to bfloat16, which"
                    + " has the range of float32";
        }
        if (previousNorms.isEmpty()) {
            return "the initial weights are not finite";
        }
        double squares = previousNorms.values().stream().mapToDouble(n -> (double) n * n).sum();
        return Math.sqrt(squares) > EXPLODED
                ? "training has diverged; lower optimizer.learning_rate, lengthen schedule.warmup"
                        + " or set max_gradient_norm"
                : "the step was too large; lower optimizer.learning_rate or set"
                        + " max_gradient_norm";
    }

    private static boolean allFinite(FloatBuffer values) {
        while (values.hasRemaining()) {
            if (!Float.isFinite(values.get())) {
                return false;
            }
        }
        return true;
    }
}

package dev.saccade.export;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;

import dev.saccade.core.Count;
import dev.saccade.core.Libtorch;
import dev.saccade.core.Printable;
import dev.saccade.core.ProgressBar;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.loader.InferenceInput;
import dev.saccade.datasets.loader.InferenceReader;
import dev.saccade.eval.CompositeEvaluator;
import dev.saccade.eval.DatasetInference;
import dev.saccade.eval.Evaluator;
import dev.saccade.eval.MetricTable;
import dev.saccade.models.TrainedModel;

import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

/** Compares an exported model with the original on a data set whose image sizes it supports. */
record ExportComparison(ExportCheck check, Dataset dataset, int workers, ProgressBar.Factory bars) {

    /** Number of images whose raw outputs are compared. */
    private static final int COMPARED = 8;

    /** libtorch compiles a program during its first runs. */
    private static final int WARM_UP = 3;

    private record Result(Map<String, Double> metrics, double milliseconds) {

        String text(String metric) {
            return Text.format("%.4f", metrics.get(metric));
        }
    }

    /** Prints deviations, metrics and times. Fails if raw outputs or metrics differ too much. */
    <P> void run(TrainedModel<P> model, PrintWriter out) {
        Precision precision = model.spec().precision();
        InferenceReader reader = new InferenceReader(List.of(model.spec().transforms()));
        TargetKind targets = model.spec().model().head().targets();
        List<Evaluator.Config> configs = CompositeEvaluator.defaults(targets);
        CompositeEvaluator<P> evaluators =
                CompositeEvaluator.build(
                        configs, model.model().predictionType(), dataset, targets, workers);
        double limit = ExportCheck.limit(precision);
        double largest = deviation(reader, limit);
        Result ours = evaluate("evaluate original", reader, model::predict, evaluators);
        Function<ImageBatch, P> exported = batch -> check.predict(model.model(), batch).get(0);
        Result theirs =
                evaluate("evaluate exported", reader, input -> onCpu(input, exported), evaluators);
        out.println(
                Printable.format(
                        "%s, %s of the run: largest deviation %.1e, expected at most %.0e",
                        check.runtime(), Count.of(dataset.size(), "image"), largest, limit));
        List<String> names =
                ours.metrics.keySet().stream()
                        .filter(name -> configs.stream().anyMatch(c -> isKey(name, c.keyMetric())))
                        .toList();
        out.println(
                new MetricTable(List.of("metric"), names.stream().map(List::of).toList())
                        .withText("Saccade", names.stream().map(ours::text))
                        .withText("exported", names.stream().map(theirs::text)));
        out.println(
                Printable.format(
                        "milliseconds per image: %.0f in Saccade, %.0f in %s",
                        ours.milliseconds, theirs.milliseconds, check.runtime()));
        for (String name : names) {
            double difference = Math.abs(ours.metrics.get(name) - theirs.metrics.get(name));
            if (!(difference <= tolerance(precision)) && Double.isFinite(ours.metrics.get(name))) {
                throw SaccadeException.user(
                        "%s: got %.4f from the exported model, expected %.4f; the raw"
                                + " outputs before NMS agree",
                        name, theirs.metrics.get(name), ours.metrics.get(name));
            }
        }
    }

    /** Returns the allowed difference of metrics; rounding may reorder or relabel objects. */
    private static double tolerance(Precision precision) {
        return switch (precision) {
            case FLOAT32 -> 0.01;
            case FLOAT16 -> 0.02;
            case BFLOAT16 -> 0.05;
        };
    }

    /** Returns whether a metric is {@code key}, with or without a prefix such as {@code mask_}. */
    private static boolean isKey(String name, String key) {
        return name.equals(key) || name.endsWith("_" + key);
    }

    private double deviation(InferenceReader reader, double limit) {
        int compared = Math.min(COMPARED, dataset.size());
        double largest = 0;
        try (ProgressBar progress = bars.open("compare images of the run", compared, " images")) {
            for (int i = 0; i < compared; i++) {
                try (InferenceInput input = reader.read(dataset, i)) {
                    largest =
                            Math.max(largest, onCpu(input, batch -> check.deviation(batch, limit)));
                }
                progress.step();
            }
        }
        return largest;
    }

    private static <T> T onCpu(InferenceInput input, Function<ImageBatch, T> body) {
        try (NDManager scratch = Libtorch.newManager(Device.cpu())) {
            return body.apply(input.to(scratch).get(0));
        }
    }

    private <P> Result evaluate(
            String task,
            InferenceReader reader,
            Function<InferenceInput, P> model,
            CompositeEvaluator<P> evaluators) {
        for (int i = 0; i < WARM_UP; i++) {
            try (InferenceInput input = reader.read(dataset, 0)) {
                P unused = model.apply(input);
            }
        }
        LongAdder nanoseconds = new LongAdder();
        Function<InferenceInput, P> timed =
                input -> {
                    long start = System.nanoTime();
                    P predicted = model.apply(input);
                    nanoseconds.add(System.nanoTime() - start);
                    return predicted;
                };
        try (ProgressBar progress = bars.open(task, dataset.size(), " images")) {
            new DatasetInference(dataset, workers).run(reader, timed, evaluators, progress::to);
        }
        double milliseconds = nanoseconds.sum() / 1e6 / dataset.size();
        return new Result(evaluators.evaluate().values(), milliseconds);
    }
}

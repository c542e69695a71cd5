package dev.saccade.export;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;

import dev.saccade.core.Libtorch;
import dev.saccade.core.Printable;
import dev.saccade.core.ProgressBar;
import dev.saccade.core.Text;
import dev.saccade.core.components.TargetKind;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

/**
 * Evaluates a model and its export on a data set whose image sizes the export supports.
 *
 * @param suffix last words of the names of progress bars, such as " on training images"
 */
record ExportEvaluation(Dataset dataset, String suffix, int workers, ProgressBar.Factory bars) {

    /** libtorch compiles a program during its first runs. */
    private static final int WARM_UP = 3;

    /**
     * Result of a model.
     *
     * @param metrics key metrics of the default evaluators, by name
     * @param milliseconds mean time per image
     */
    record Result(Map<String, Double> metrics, double milliseconds) {

        /**
         * Prints the metrics and times of a model and its export.
         *
         * @param name name of this model
         * @param exportedName name of the export
         */
        void print(
                String name,
                Result exported,
                String exportedName,
                String runtime,
                PrintWriter out) {
            List<String> names = List.copyOf(metrics.keySet());
            out.println(
                    new MetricTable(List.of("metric"), names.stream().map(List::of).toList())
                            .withText(name, names.stream().map(this::text))
                            .withText(exportedName, names.stream().map(exported::text)));
            out.println(
                    Printable.format(
                            "milliseconds per image: %.0f (%s in Saccade), %.0f (%s in %s)",
                            milliseconds, name, exported.milliseconds, exportedName, runtime));
        }

        private String text(String metric) {
            return Text.format("%.4f", metrics.get(metric));
        }
    }

    /** Evaluates the original model. */
    <P> Result original(TrainedModel<P> model) {
        return evaluate(model, "evaluate original", model::predict);
    }

    /** Evaluates the exported model. */
    <P> Result exported(TrainedModel<P> model, ExportedModel exported) {
        return evaluate(
                model,
                "evaluate exported",
                input -> onCpu(input, batch -> exported.predict(model.model(), batch).get(0)));
    }

    static <T> T onCpu(InferenceInput input, Function<ImageBatch, T> body) {
        try (NDManager scratch = Libtorch.newManager(Device.cpu())) {
            return body.apply(input.to(scratch).get(0));
        }
    }

    private <P> Result evaluate(
            TrainedModel<P> model, String task, Function<InferenceInput, P> predict) {
        InferenceReader reader =
                new InferenceReader(List.of(model.spec().transforms()), model.spec().pixels());
        TargetKind targets = model.spec().model().head().targets();
        List<Evaluator.Config> configs = CompositeEvaluator.defaults(targets);
        CompositeEvaluator<P> evaluators =
                CompositeEvaluator.build(
                        configs, model.model().predictionType(), dataset, targets, workers);
        for (int i = 0; i < WARM_UP; i++) {
            try (InferenceInput input = reader.read(dataset, 0)) {
                P unused = predict.apply(input);
            }
        }
        LongAdder nanoseconds = new LongAdder();
        Function<InferenceInput, P> timed =
                input -> {
                    long start = System.nanoTime();
                    P predicted = predict.apply(input);
                    nanoseconds.add(System.nanoTime() - start);
                    return predicted;
                };
        try (ProgressBar progress = bars.open(task + suffix, dataset.size(), " images")) {
            new DatasetInference(dataset, workers).run(reader, timed, evaluators, progress::to);
        }
        Map<String, Double> metrics = new LinkedHashMap<>(evaluators.evaluate().values());
        metrics.keySet()
                .removeIf(name -> configs.stream().noneMatch(c -> isKey(name, c.keyMetric())));
        return new Result(metrics, nanoseconds.sum() / 1e6 / dataset.size());
    }

    /** Returns whether a metric is {@code key}, with or without a prefix such as {@code mask_}. */
    private static boolean isKey(String name, String key) {
        return name.equals(key) || name.endsWith("_" + key);
    }
}

package dev.saccade.export;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;

import dev.saccade.core.Count;
import dev.saccade.core.Libtorch;
import dev.saccade.core.Printable;
import dev.saccade.core.ProgressBar;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.parts.TargetKind;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.loader.ImageViews;
import dev.saccade.datasets.loader.ViewReader;
import dev.saccade.eval.DatasetInference;
import dev.saccade.eval.Evaluator;
import dev.saccade.eval.Evaluators;
import dev.saccade.eval.MetricTable;
import dev.saccade.models.TrainedModel;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

/**
 * Compares an exported program with its model on images of the data set.
 *
 * @param check runs the program
 * @param part images of sizes that the program supports
 * @param workers threads that read images
 */
record ExportComparison(ExportCheck check, Dataset part, int workers, ProgressBar.Factory bars) {

    /** So many photographs show what a layer computes. */
    private static final int SHOWN = 8;

    /** libtorch compiles a program when it runs for the first times. */
    private static final int WARM_UP = 3;

    /** What one of both did. */
    private record Did(Map<String, Double> metrics, double milliseconds) {}

    /**
     * Compares both on the first photographs, and prints what comes of it.
     *
     * @throws SaccadeException of kind user, if they differ too much
     */
    <P> void run(TrainedModel<P> model, PrintWriter out) {
        Precision precision = model.spec().precision();
        double limit = ExportCheck.limit(precision);
        double mostApart = mostApart(precision);
        ViewReader reader = new ViewReader(List.of(model.spec().transforms()));
        TargetKind targets = model.spec().model().head().targets();
        List<Evaluator.Config> configs = Evaluators.standard(targets);
        Evaluators<P> evaluators =
                Evaluators.build(configs, model.model().predictionType(), part, targets, workers);
        double largest = deviation(reader, limit);
        Did ours = did("predict", reader, model::predict, evaluators);
        Did theirs =
                did(
                        "exported",
                        reader,
                        views -> onCpu(views, batch -> check.predict(model.model(), batch).get(0)),
                        evaluators);
        out.println(
                Printable.format(
                        "%s, %s of the run: largest deviation %.1e, at most %.0e expected",
                        check.runtime(), Count.of(part.size(), "photograph"), largest, limit));
        List<String> names =
                ours.metrics.keySet().stream()
                        .filter(name -> configs.stream().anyMatch(c -> isKey(name, c.keyMetric())))
                        .toList();
        List<List<String>> rows = new ArrayList<>();
        names.forEach(name -> rows.add(List.of(name)));
        out.println(
                new MetricTable(List.of("metric"), rows)
                        .withText("Saccade", names.stream().map(name -> text(ours, name)))
                        .withText("exported", names.stream().map(name -> text(theirs, name))));
        out.println(
                Printable.format(
                        "milliseconds a photograph: %.0f in Saccade, %.0f in %s",
                        ours.milliseconds, theirs.milliseconds, check.runtime()));
        for (String name : names) {
            double apart = Math.abs(ours.metrics.get(name) - theirs.metrics.get(name));
            if (!(apart <= mostApart) && Double.isFinite(ours.metrics.get(name))) {
                throw SaccadeException.user(
                        "%s: got %.4f of the exported model, expected %.4f, that of the model; what"
                                + " is computed before objects are selected does not deviate",
                        name, theirs.metrics.get(name), ours.metrics.get(name));
            }
        }
    }

    /** By how much a metric may differ: some objects in another order, or of another class. */
    private static double mostApart(Precision precision) {
        return switch (precision) {
            case FLOAT32 -> 0.01;
            case FLOAT16 -> 0.02;
            case BFLOAT16 -> 0.05;
        };
    }

    private static String text(Did one, String metric) {
        return Text.format("%.4f", one.metrics.get(metric));
    }

    /** Whether a metric is the one that tells the best checkpoint, of boxes or masks. */
    private static boolean isKey(String name, String key) {
        return name.equals(key) || name.endsWith("_" + key);
    }

    private double deviation(ViewReader reader, double limit) {
        int shown = Math.min(SHOWN, part.size());
        double largest = 0;
        try (ProgressBar progress = bars.open("compare", shown, " photos")) {
            for (int i = 0; i < shown; i++) {
                try (ImageViews views = reader.read(part, i)) {
                    largest =
                            Math.max(largest, onCpu(views, batch -> check.deviation(batch, limit)));
                }
                progress.step();
            }
        }
        return largest;
    }

    private static <T> T onCpu(ImageViews views, Function<ImageBatch, T> body) {
        try (NDManager scratch = Libtorch.newManager(Device.cpu())) {
            return body.apply(views.on(scratch).get(0));
        }
    }

    private <P> Did did(
            String task,
            ViewReader reader,
            Function<ImageViews, P> model,
            Evaluators<P> evaluators) {
        for (int i = 0; i < WARM_UP; i++) {
            try (ImageViews views = reader.read(part, 0)) {
                P unused = model.apply(views);
            }
        }
        LongAdder nanoseconds = new LongAdder();
        try (ProgressBar progress = bars.open(task, part.size(), " photos")) {
            new DatasetInference(part, workers)
                    .run(
                            reader,
                            views -> {
                                long start = System.nanoTime();
                                P predicted = model.apply(views);
                                nanoseconds.add(System.nanoTime() - start);
                                return predicted;
                            },
                            evaluators,
                            progress::to);
        }
        double milliseconds = nanoseconds.sum() / 1e6 / part.size();
        return new Did(evaluators.evaluate().values(), milliseconds);
    }
}

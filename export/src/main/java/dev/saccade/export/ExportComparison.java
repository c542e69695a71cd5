package dev.saccade.export;

import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.core.ProgressBar;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.loader.InferenceInput;
import dev.saccade.datasets.loader.InferenceReader;
import dev.saccade.models.TrainedModel;

import java.io.PrintWriter;
import java.util.List;

/** Compares an exported model with the original on a data set whose image sizes it supports. */
record ExportComparison(ExportCheck check, Dataset dataset, int workers, ProgressBar.Factory bars) {

    /** Number of images whose raw outputs are compared. */
    private static final int COMPARED = 8;

    /** Prints deviations, metrics and times. Fails if raw outputs or metrics differ too much. */
    <P> void run(TrainedModel<P> model, PrintWriter out) {
        Precision precision = model.spec().precision();
        double limit = ExportCheck.limit(precision);
        double largest =
                deviation(
                        new InferenceReader(
                                List.of(model.spec().transforms()), model.spec().pixels()),
                        limit);
        ExportEvaluation evaluation = new ExportEvaluation(dataset, "", workers, bars);
        ExportEvaluation.Result ours = evaluation.original(model);
        ExportEvaluation.Result theirs = evaluation.exported(model, check.model());
        out.println(
                Printable.format(
                        "%s, %s of the run: largest deviation %.1e, expected at most %.0e",
                        check.runtime(), Count.of(dataset.size(), "image"), largest, limit));
        ours.print("original", theirs, "exported", check.runtime(), out);
        ours.metrics()
                .forEach(
                        (name, metric) ->
                                requireNear(name, metric, theirs.metrics().get(name), precision));
    }

    private static void requireNear(String name, double expected, double got, Precision precision) {
        if (!(Math.abs(expected - got) <= tolerance(precision)) && Double.isFinite(expected)) {
            throw SaccadeException.user(
                    "%s: got %.4f from the exported model, expected %.4f; the raw"
                            + " outputs before NMS agree",
                    name, got, expected);
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

    private double deviation(InferenceReader reader, double limit) {
        int compared = Math.min(COMPARED, dataset.size());
        double largest = 0;
        try (ProgressBar progress = bars.open("compare images of the run", compared, " images")) {
            for (int i = 0; i < compared; i++) {
                try (InferenceInput input = reader.read(dataset, i)) {
                    largest =
                            Math.max(
                                    largest,
                                    ExportEvaluation.onCpu(
                                            input, batch -> check.deviation(batch, limit)));
                }
                progress.step();
            }
        }
        return largest;
    }
}

package dev.saccade.report.runs;

import com.google.common.hash.Hashing;
import com.google.common.io.MoreFiles;

import dev.saccade.core.SaccadeException;
import dev.saccade.report.Charts;
import dev.saccade.report.FactList;
import dev.saccade.report.FactList.Fact;
import dev.saccade.report.Histogram;
import dev.saccade.report.Section;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The content of a report besides logged events; kept in the {@code report.json} of the run,
 * pictures included, so that the report can be written without the data set.
 *
 * @param subtitle one sentence about the run
 * @param data statistics of the data sets
 * @param environment versions and machine
 * @param measured evaluation of the best checkpoint; empty without a validation set
 */
public record RunMetrics(
        String subtitle, DataSummary data, List<Fact> environment, Optional<Measured> measured) {

    /** Statistics of data sets. */
    public record DataSummary(List<Fact> facts, List<Histogram> charts) {

        static final DataSummary EMPTY = new DataSummary(List.of(), List.of());

        Section section() {
            return new Section(
                    "Data set", "", new FactList(facts), new Charts(List.copyOf(charts)));
        }
    }

    /**
     * The evaluation of a checkpoint.
     *
     * @param imagesPerSecond throughput of the evaluation, with all threads and ranks
     */
    public record Measured(
            Weights weights, double imagesPerSecond, Latency latency, TaskMetrics task) {}

    /**
     * A checkpoint.
     *
     * @param file path relative to the folder of the run
     * @param parameters number of parameters, including frozen ones
     */
    public record Weights(String file, long bytes, String sha256, long parameters) {

        /** Describes the file of a checkpoint. */
        public static Weights of(Path run, Path checkpoint, long parameters) {
            return new Weights(
                    run.relativize(checkpoint).toString().replace('\\', '/'),
                    checkpoint.toFile().length(),
                    sum(checkpoint),
                    parameters);
        }

        private static String sum(Path file) {
            try {
                return MoreFiles.asByteSource(file).hash(Hashing.sha256()).toString();
            } catch (IOException e) {
                throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
            }
        }
    }

    /** Returns whether these are the metrics of a checkpoint, with enough example images. */
    public boolean areOf(Path checkpoint, int examples) {
        return measured.filter(
                        all -> {
                            int shown = all.task.examples().size();
                            return shown >= Math.min(examples, all.task.examples().all());
                        })
                .filter(all -> all.weights.sha256.equals(Weights.sum(checkpoint)))
                .isPresent();
    }
}

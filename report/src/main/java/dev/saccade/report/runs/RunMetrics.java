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
 * Content of {@code report.json}, with pictures, so that writing the report needs no data set.
 * {@code checkpoint} is empty without a validation set.
 */
public record RunMetrics(
        String subtitle,
        DataSummary data,
        List<Fact> environment,
        Optional<CheckpointMetrics> checkpoint) {

    public record DataSummary(List<Fact> facts, List<Histogram> charts) {

        static final DataSummary EMPTY = new DataSummary(List.of(), List.of());

        Section section() {
            return new Section(
                    "Data set", "", new FactList(facts), new Charts(List.copyOf(charts)));
        }
    }

    /** The evaluation of a checkpoint, with the throughput of all threads and ranks. */
    public record CheckpointMetrics(
            Weights weights, double imagesPerSecond, Latency latency, TaskMetrics task) {}

    /** A checkpoint; the file is relative to the run. {@code parameters} includes frozen ones. */
    public record Weights(String file, long bytes, String sha256, long parameters) {

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

    /** Returns whether the metrics are of this checkpoint, with enough example images. */
    public boolean matches(Path checkpoint, int examples) {
        return this.checkpoint
                .filter(
                        all -> {
                            int shown = all.task.examples().size();
                            return shown >= Math.min(examples, all.task.examples().all());
                        })
                .filter(all -> all.weights.sha256.equals(Weights.sum(checkpoint)))
                .isPresent();
    }
}

package dev.saccade.report.runs;

import com.google.common.hash.Hashing;
import com.google.common.io.MoreFiles;

import dev.saccade.core.SaccadeException;
import dev.saccade.report.ReportData.DataSummary;
import dev.saccade.report.ReportData.Fact;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What the page of a run shows besides what it tells in {@code metrics.jsonl}: kept in its {@code
 * report.json}, pictures included, so that the page can be written anywhere and at any time.
 *
 * @param subtitle one sentence about the run
 * @param data what the data sets hold
 * @param environment versions and machine
 * @param measured how the best checkpoint did, if it was measured
 */
public record RunMetrics(
        String subtitle, DataSummary data, List<Fact> environment, Optional<Measured> measured) {

    /**
     * How a checkpoint did.
     *
     * @param weights the checkpoint
     * @param photographsPerSecond how fast they were measured, with all threads and ranks
     * @param latency how long one takes by itself
     * @param task what is said about how well it did
     */
    public record Measured(
            Weights weights, double photographsPerSecond, Latency latency, TaskMetrics task) {}

    /**
     * A checkpoint.
     *
     * @param file its path from the folder of the run
     * @param bytes the size of the file
     * @param sha256 the sum of its content
     * @param parameters how many numbers were learned, frozen ones included
     */
    public record Weights(String file, long bytes, String sha256, long parameters) {

        /** Describes the file of a checkpoint. */
        public static Weights of(Path run, Path checkpoint, long parameters) {
            try {
                return new Weights(
                        run.relativize(checkpoint).toString().replace('\\', '/'),
                        Files.size(checkpoint),
                        sum(checkpoint),
                        parameters);
            } catch (IOException e) {
                throw SaccadeException.io(e, "%s: cannot be read: %s", checkpoint, e.getMessage());
            }
        }

        /** Returns whether a file has the content of this checkpoint. */
        boolean isThatOf(Path checkpoint) {
            try {
                return Files.size(checkpoint) == bytes && sum(checkpoint).equals(sha256);
            } catch (IOException e) {
                throw SaccadeException.io(e, "%s: cannot be read: %s", checkpoint, e.getMessage());
            }
        }

        private static String sum(Path file) throws IOException {
            return MoreFiles.asByteSource(file).hash(Hashing.sha256()).toString();
        }
    }

    /** Returns whether a checkpoint was measured, and enough of its pictures are there. */
    public boolean areOf(Path checkpoint, int examples) {
        return measured.filter(
                        all -> {
                            int shown = all.task.examples().size();
                            return shown >= Math.min(examples, all.task.examples().all());
                        })
                .filter(all -> all.weights.isThatOf(checkpoint))
                .isPresent();
    }
}

package dev.saccade.spark;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.config.ConfigWriter;
import dev.saccade.core.SaccadeException;
import dev.saccade.train.Outcome;
import dev.saccade.train.Training;
import dev.saccade.train.checkpoint.RunFolder;
import dev.saccade.train.config.RunConfig;

import org.apache.spark.sql.SparkSession;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Trains on executors of Apache Spark, with a {@link Training} in each task of a barrier stage.
 *
 * <pre>{@code
 * SparkTrainer.of(RunConfig.load(Path.of("/shared/tools.yaml")))
 *         .ranks(4)
 *         .maxRestarts(3)
 *         .start(spark, Path.of("/shared/runs/tools"));
 * }</pre>
 *
 * <p>Driver and executors need the run folder and the data under the same paths. Each rank uses the
 * GPU that Spark assigned to its task ({@code spark.task.resource.gpu.amount}). Without GPU
 * resources, the ranks of a machine use its GPUs in order, if {@code device} allows it.
 *
 * <p>The driver waits for the end of the run; see {@code train.log} for progress. Canceling the
 * Spark job interrupts the run after the current step. Communication between ranks is not
 * encrypted, regardless of Spark's settings.
 */
public final class SparkTrainer {

    private static final Logger log = LoggerFactory.getLogger(SparkTrainer.class);

    private static final Duration TIMEOUT = Duration.ofMinutes(10);

    private final RunConfig config;
    private final int ranks;
    private final int maxRestarts;
    private final Duration timeout;

    private SparkTrainer(RunConfig config, int ranks, int maxRestarts, Duration timeout) {
        this.config = config;
        this.ranks = ranks;
        this.maxRestarts = maxRestarts;
        this.timeout = timeout;
    }

    /**
     * Prepares training with one rank. Relative paths are resolved against the driver's working
     * directory.
     *
     * @throws SaccadeException of kind user, if the config has no training set, or selects a GPU by
     *     number
     */
    public static SparkTrainer of(RunConfig config) {
        config.data().requireTrain();
        if (config.device().startsWith("cuda:")) {
            throw SaccadeException.user(
                    "device: got %s, expected cuda, auto or cpu; Spark assigns the GPUs",
                    config.device());
        }
        List<String> paths = new ArrayList<>();
        paths.add("data.root=" + absolute(config.data().root()));
        config.initFrom()
                .map(Path::of)
                .filter(Files::isRegularFile)
                .ifPresent(file -> paths.add("init_from=" + absolute(file)));
        RunConfig anywhere = config.with(paths.toArray(String[]::new));
        return new SparkTrainer(anywhere, 1, 0, TIMEOUT);
    }

    private static String absolute(Path path) {
        return ConfigWriter.text(path.toAbsolutePath().toString());
    }

    /** Returns the trainer with another number of ranks; each rank is one Spark task. */
    public SparkTrainer ranks(int count) {
        checkArgument(count >= 1, "ranks: got %s, expected 1 or more", count);
        return new SparkTrainer(config, count, maxRestarts, timeout);
    }

    /**
     * Returns the trainer with restarts: if a rank fails or is lost, all ranks resume from the last
     * checkpoint, or start over if there is none. User errors are not retried.
     *
     * @param count maximum number of restarts; 0 by default
     */
    public SparkTrainer maxRestarts(int count) {
        checkArgument(count >= 0, "restarts: got %s, expected 0 or more", count);
        return new SparkTrainer(config, ranks, count, timeout);
    }

    /** Returns the trainer with another timeout for executors and ranks; 10 minutes by default. */
    public SparkTrainer timeout(Duration duration) {
        checkArgument(duration.toMillis() > 0, "timeout: got %s, expected more than 0", duration);
        return new SparkTrainer(config, ranks, maxRestarts, duration);
    }

    /**
     * Trains from the beginning, like {@link Training#start}.
     *
     * @param folder missing or empty, on shared storage
     * @throws SaccadeException the original error of a failed rank; of kind user, if the folder is
     *     not empty, executors cannot run all tasks at once, or dynamic allocation is enabled
     */
    public Outcome start(SparkSession spark, Path folder) {
        RunFolder run = new RunFolder(folder.toAbsolutePath());
        run.requireEmpty();
        try {
            Files.createDirectories(run.path());
        } catch (IOException e) {
            throw SaccadeException.io(
                    e, "%s: cannot create the run folder: %s", run.path(), e.getMessage());
        }
        return train(spark, run, /* resume= */ false);
    }

    /**
     * Resumes an interrupted run, like {@link Training#resume}, including runs started without
     * Spark.
     *
     * @throws SaccadeException as for {@link #start}, if the run has no checkpoint, or if the
     *     config has changed in a way that affects training
     */
    public Outcome resume(SparkSession spark, Path folder) {
        RunFolder run = new RunFolder(folder.toAbsolutePath());
        Training.config(run.path());
        return train(spark, run, /* resume= */ true);
    }

    private Outcome train(SparkSession spark, RunFolder run, boolean resume) {
        BarrierStage stage = new BarrierStage(spark.sparkContext(), ranks, timeout);
        boolean resumes = resume;
        for (int restart = 1; ; restart++) {
            try {
                return attempt(stage, run.path(), resumes);
            } catch (SaccadeException e) {
                if (restart > maxRestarts || e.kind() == SaccadeException.Kind.USER) {
                    throw e;
                }
                resumes = run.prepareRestart();
                log.warn(
                        "{}; all ranks start again from {}, restart {} of {}",
                        e.getMessage(),
                        resumes ? "the last checkpoint" : "the beginning",
                        restart,
                        maxRestarts);
            }
        }
    }

    private Outcome attempt(BarrierStage stage, Path folder, boolean resume) {
        Optional<List<byte[]>> bytes = stage.run(new RankTask(config, folder, resume, timeout));
        if (bytes.isEmpty()) {
            return Outcome.INTERRUPTED;
        }
        List<RankResult> results = bytes.get().stream().map(RankResult::read).toList();
        results.get(0).notes().forEach(note -> log.info("{}", note));
        return RankResult.outcome(results);
    }
}

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
 * Trains on executors of Apache Spark: a {@link Training} in each task of a barrier stage.
 *
 * <pre>{@code
 * SparkTrainer.of(RunConfig.load(Path.of("/shared/things.yaml")))
 *         .ranks(4)
 *         .maxRestarts(3)
 *         .start(spark, Path.of("/shared/runs/things"));
 * }</pre>
 *
 * <p>The folder of the run and the data that the config names lie where the driver and all
 * executors see them under the same paths. Each rank computes on the GPU that Spark has given its
 * task ({@code spark.task.resource.gpu.amount}), else as {@code device} says on the GPU of its
 * number among those of its machine.
 *
 * <p>The driver waits, and is results why if it fails; {@code train.log} in the folder tells what
 * goes on. Who cancels the job in Spark interrupts the run after its step. What ranks say to one
 * another is not encrypted, whatever Spark is results.
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
     * Prepares runs of one rank on the data sets that a config names.
     *
     * @param config whose relative paths start from the folder that the driver works in
     * @throws SaccadeException of kind user, if it names no data set to learn from, or the number
     *     of a GPU, which Spark has to choose
     */
    public static SparkTrainer of(RunConfig config) {
        config.data().requireTrain();
        if (config.device().startsWith("cuda:")) {
            throw SaccadeException.user(
                    "device: got %s, expected cuda, auto or cpu; Spark says which GPU a task has",
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

    /** Returns the same for some ranks, each of which is a task of the stage. */
    public SparkTrainer ranks(int count) {
        checkArgument(count >= 1, "ranks: expected 1 or more, got %s", count);
        return new SparkTrainer(config, count, maxRestarts, timeout);
    }

    /**
     * Returns the same but that all ranks start again when one has failed or was lost, from the
     * last checkpoint if there is one. No mistake of the user is tried again.
     *
     * @param count how often at most; never by default
     */
    public SparkTrainer maxRestarts(int count) {
        checkArgument(count >= 0, "restarts: expected 0 or more, got %s", count);
        return new SparkTrainer(config, ranks, count, timeout);
    }

    /**
     * Returns the same with another patience.
     *
     * @param duration how long to wait for executors, and ranks for one another; ten minutes by
     *     default
     */
    public SparkTrainer timeout(Duration duration) {
        checkArgument(duration.toMillis() > 0, "timeout: got %s", duration);
        return new SparkTrainer(config, ranks, maxRestarts, duration);
    }

    /**
     * Trains from the beginning, as {@link Training#start} does.
     *
     * @param folder a folder that is empty or not there, on storage that all share
     * @throws SaccadeException the error of the rank that is the reason; of kind user, if Spark
     *     cannot run as many tasks at a time, or changes its executors as it likes
     */
    public Outcome start(SparkSession spark, Path folder) {
        RunFolder run = new RunFolder(folder.toAbsolutePath());
        run.requireEmpty();
        try {
            Files.createDirectories(run.path());
        } catch (IOException e) {
            throw SaccadeException.io(
                    e, "%s: cannot make the folder of the run: %s", run.path(), e.getMessage());
        }
        return train(spark, run, /* resume= */ false);
    }

    /**
     * Goes on with a run that was interrupted, as {@link Training#resume} does, also one of another
     * program.
     *
     * @param folder the folder of the run
     * @throws SaccadeException as {@link #start} does; if there is nothing to resume from, or if
     *     the config has changed in a way that would make it another run
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

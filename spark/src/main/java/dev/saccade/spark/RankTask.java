package dev.saccade.spark;

import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.train.Outcome;
import dev.saccade.train.Training;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.hooks.Run;
import dev.saccade.train.hooks.StepReport;

import org.apache.spark.BarrierTaskContext;

import scala.collection.Iterator;
import scala.collection.JavaConverters;
import scala.runtime.AbstractFunction1;

import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A task of a barrier stage that trains as one rank. */
final class RankTask extends AbstractFunction1<Iterator<Integer>, Iterator<byte[]>>
        implements Serializable {

    private static final long serialVersionUID = 1L;

    /** Process id and host name. */
    private static final String HOST = ManagementFactory.getRuntimeMXBean().getName();

    private final String config;
    private final String folder;
    private final boolean resume;
    private final Duration timeout;

    /** Creates the task that every rank runs; {@code timeout} limits waiting for other ranks. */
    RankTask(RunConfig config, Path folder, boolean resume, Duration timeout) {
        this.config = ConfigWriter.yaml(Configs.unbind(config));
        this.folder = folder.toString();
        this.resume = resume;
        this.timeout = timeout;
    }

    /**
     * Trains and returns the result of the rank, even after an exception: if a task threw, Spark
     * would abort the whole stage at once, while other tasks still run.
     */
    @Override
    public Iterator<byte[]> apply(Iterator<Integer> partition) {
        byte[] end = end(BarrierTaskContext.get()).toBytes();
        return JavaConverters.asScalaIterator(List.of(end).iterator());
    }

    private RankResult end(BarrierTaskContext context) {
        List<String> notes = new ArrayList<>();
        try (ProcessGroup group = ProcessGroup.join(new TaskRendezvous(context).await(timeout))) {
            try {
                return new RankResult(train(context, group, notes), null, false, notes);
            } catch (RuntimeException e) {
                group.fail(String.valueOf(e.getMessage()));
                return new RankResult(null, portable(e), group.othersFailed(), notes);
            }
        } catch (RuntimeException e) {
            return new RankResult(null, portable(e), /* causedByOtherRank= */ false, notes);
        }
    }

    private Outcome train(BarrierTaskContext context, ProcessGroup group, List<String> notes) {
        if (!Files.isDirectory(Path.of(folder))) {
            throw SaccadeException.user(
                    "%s: the driver has this folder, but executor %s does not; choose a"
                            + " folder on storage shared by the driver and all executors",
                    folder, HOST);
        }
        Training training = Training.of(RunConfig.parse(config)).on(group);
        Hook driver =
                new Hook() {
                    @Override
                    public void onLog(String line) {
                        notes.add(line);
                    }

                    @Override
                    public void afterStep(Run run, StepReport step) {
                        if (context.isInterrupted()) {
                            training.stop();
                        }
                    }
                };
        return resume
                ? training.resume(Path.of(folder), driver)
                : training.start(Path.of(folder), driver);
    }

    private static SaccadeException portable(RuntimeException error) {
        if (error instanceof SaccadeException known) {
            return known.withoutCause();
        }
        SaccadeException bug = SaccadeException.internal(null, "executor %s: %s", HOST, error);
        bug.setStackTrace(error.getStackTrace());
        return bug;
    }
}

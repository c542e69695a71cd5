package dev.saccade.train.checkpoint;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.checkpoint.SafeTensors;
import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.schedules.RunLength;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Copies the state of a run to a new run of another length. */
public final class RunFork {

    private RunFork() {}

    /**
     * Creates the folder of a new run that continues from the last checkpoint of {@code run}.
     *
     * @param config differs from the config of the run only in its length, or in settings that do
     *     not affect training; the schedule must give all finished steps the same learning rates
     * @throws SaccadeException of kind user, if the run has no checkpoint, the folder is not empty,
     *     or the config is not allowed
     */
    public static void create(RunFolder run, Path folder, RunConfig config) {
        run.requireRun();
        if (!Files.exists(run.last())) {
            throw SaccadeException.user(
                    "%s: the run has no checkpoint to fork from; train it first", run.path());
        }
        RunConfig before = RunConfig.load(run.config());
        Map<String, String> metadata = SafeTensors.read(run.last()).metadata();
        long stepsPerEpoch = RunLayout.of(run.last(), metadata).stepsPerEpoch();
        ConfigChange.require(sameLength(before, config), config);
        requireSameRates(
                RunState.fromMetadata(run.last(), metadata).iteration(),
                before,
                before.lengthInSteps(stepsPerEpoch),
                config,
                config.lengthInSteps(stepsPerEpoch));
        if (config.data().numLastEpochs() > 0) {
            throw SaccadeException.user(
                    "data.num_last_epochs: got %d, expected 0 to fork a run, because the last epochs"
                            + " depend on its length",
                    config.data().numLastEpochs());
        }
        RunFolder fork = RunFolder.create(folder);
        try {
            Files.copy(run.last(), fork.last());
        } catch (IOException e) {
            throw SaccadeException.io(
                    e, "%s: cannot be copied to %s: %s", run.last(), fork.last(), e.getMessage());
        }
        AtomicFile.write(fork.config(), ConfigWriter.yaml(Configs.unbind(config)));
    }

    private static RunConfig sameLength(RunConfig before, RunConfig config) {
        return before.with(
                "epochs=" + config.epochs(),
                "iterations=" + config.iterations().map(String::valueOf).orElse("null"));
    }

    private static void requireSameRates(
            long steps, RunConfig before, RunLength oldLength, RunConfig now, RunLength newLength) {
        for (long i = 0; i < steps; i++) {
            double old = before.schedule().learningRate(1, i, oldLength);
            double rate = now.schedule().learningRate(1, i, newLength);
            if (old != rate) {
                throw SaccadeException.user(
                        "schedule %s: the learning rate of step %d was %s times the base rate, but"
                                + " is %s in a run of %d steps; use schedule trapezoid, and fork"
                                + " before it decays",
                        now.schedule().type(), i + 1, old, rate, newLength.iterations());
            }
        }
    }
}

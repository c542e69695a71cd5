package dev.saccade.cli;

import dev.saccade.cli.terminal.StopSignal;
import dev.saccade.core.Devices;
import dev.saccade.train.config.RunConfig;
import dev.saccade.tune.LocalJobs;
import dev.saccade.tune.TuneSettings;

import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;

/** Options of commands that train several runs as processes. */
final class JobOptions {

    /** Exit code of a process that was ended by Ctrl-C. */
    static final int INTERRUPTED = 130;

    private static final String CPU = "cpu";

    @Option(
            names = "--parallel",
            paramLabel = "N",
            description =
                    "Train N runs at a time. Results do not depend on N. Default: processors"
                            + " divided by --threads; 1 on a GPU.")
    private Optional<Integer> parallel = Optional.empty();

    @Option(
            names = "--threads",
            paramLabel = "N",
            description =
                    "Set the number of CPU threads of each run. Default: 1 on machines with up to"
                            + " 8 processors.")
    private Optional<Integer> threads = Optional.empty();

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description = "Write to this folder. Default: runs/tune/NAME or runs/crossval/NAME.")
    private Optional<Path> out = Optional.empty();

    @Option(
            names = "--resume",
            description =
                    "Continue in the same folder after an interruption, with the same config and"
                            + " options.")
    private boolean resume;

    int threads() {
        threads.ifPresent(n -> ConfigArguments.requirePositive("--threads", n));
        return threads.orElseGet(TuneSettings::defaultThreads);
    }

    LocalJobs runner(RunConfig config) {
        parallel.ifPresent(n -> ConfigArguments.requirePositive("--parallel", n));
        int count =
                parallel.orElseGet(
                        () ->
                                isOnGpu(config)
                                        ? 1
                                        : Math.max(
                                                1,
                                                Runtime.getRuntime().availableProcessors()
                                                        / threads()));
        return new LocalJobs(count, threads());
    }

    private static boolean isOnGpu(RunConfig config) {
        return !config.device().equals(CPU) && Devices.local().choose(config.device()).isGpu();
    }

    Path folder(String parent, ConfigArguments config) {
        return out.orElseGet(() -> Path.of("runs", parent, config.name()));
    }

    /**
     * Runs work until the end or Ctrl-C, which stops the jobs; the result is empty after Ctrl-C.
     */
    <T> Optional<T> run(BaseCommand command, LocalJobs runner, Supplier<Optional<T>> work) {
        return StopSignal.run(
                () -> {
                    Optional<T> result = work.get();
                    if (result.isEmpty()) {
                        command.printMessage(
                                "interrupted; repeat the command with --resume to continue");
                    }
                    return result;
                },
                runner::stop);
    }

    boolean isResumed() {
        return resume;
    }
}

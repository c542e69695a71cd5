package dev.saccade.cli;

import com.google.common.collect.ImmutableList;

import dev.saccade.cli.terminal.StopSignal;
import dev.saccade.core.Printable;
import dev.saccade.core.distributed.RankFailure;
import dev.saccade.core.distributed.RankProcesses;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Starts ranks as processes, and restarts all of them if one fails. */
final class RankLauncher {

    /** Environment variable with the process id of the launcher. */
    private static final String LAUNCHER = "SACCADE_LAUNCHER";

    /** Environment variable with the number of CPU threads of libtorch per process. */
    private static final String THREADS = "OMP_NUM_THREADS";

    /** Time for ranks to finish a step and save a checkpoint before they are killed. */
    private static final int SECONDS_TO_END = 60;

    private static final String RESUME = "--resume";
    private static final int INTERRUPTED = 130;

    private final RankProcesses processes;
    private final Supplier<List<Map<String, String>>> environments;
    private final PrintWriter err;

    /** Creates a launcher; the environment of each rank is read before each start. */
    public RankLauncher(
            RankProcesses processes,
            Supplier<List<Map<String, String>>> environments,
            PrintWriter err) {
        this.processes = processes;
        this.environments = environments;
        this.err = err;
    }

    /**
     * Runs ranks and returns the exit code; Ctrl-C and SIGTERM stop them.
     *
     * @param prepareRestart prepares a restart; returns whether to add {@code --resume}
     */
    public int run(List<String> command, int restarts, BooleanSupplier prepareRestart) {
        return StopSignal.run(() -> start(command, restarts, prepareRestart), processes::stop);
    }

    private int start(List<String> command, int restarts, BooleanSupplier prepareRestart) {
        List<String> words = command;
        for (int restart = 1; ; restart++) {
            Optional<RankFailure> ended = processes.run(words, variables());
            if (processes.isStopped()) {
                return INTERRUPTED;
            }
            if (ended.isEmpty()) {
                return 0;
            }
            RankFailure failure = ended.get();
            if (restart > restarts || !failure.isRetryable()) {
                printFailure(failure);
                return failure.isInterruption() ? INTERRUPTED : failure.exitCode();
            }
            boolean resumes = prepareRestart.getAsBoolean();
            err.println(
                    Printable.format(
                            "saccade: %s; restarting all ranks %s, restart %d of %d",
                            failure,
                            resumes ? "from the last checkpoint" : "from the start",
                            restart,
                            restarts));
            words = resumes ? resuming(command) : command;
        }
    }

    private static List<String> resuming(List<String> command) {
        return command.contains(RESUME)
                ? command
                : ImmutableList.<String>builder().addAll(command).add(RESUME).build();
    }

    private List<Map<String, String>> variables() {
        List<Map<String, String>> ranks = environments.get();
        int threads = Math.max(1, Runtime.getRuntime().availableProcessors() / ranks.size());
        List<Map<String, String>> all = new ArrayList<>();
        for (Map<String, String> variables : ranks) {
            Map<String, String> more = new HashMap<>(variables);
            more.put(LAUNCHER, Long.toString(ProcessHandle.current().pid()));
            if (System.getenv(THREADS) == null) {
                more.put(THREADS, Integer.toString(threads));
            }
            all.add(more);
        }
        return all;
    }

    private void printFailure(RankFailure failure) {
        if (!failure.isReported()) {
            String rest = failure.log().map(log -> "; see " + log.file()).orElse("");
            err.println(Printable.format("saccade: %s%s", failure, rest));
        }
    }

    /** Returns whether a launcher started this process. */
    public static boolean isPresent() {
        return System.getenv(LAUNCHER) != null;
    }

    /**
     * Ends this process when its launcher ends or is killed: gracefully within a minute, else by
     * force. Does nothing without a launcher.
     */
    public static void exitWithLauncher() {
        String launcher = System.getenv(LAUNCHER);
        if (launcher != null) {
            Thread watch = new Thread(() -> endAfter(launcher), "launcher-watch");
            watch.setDaemon(true);
            watch.start();
        }
    }

    private static void endAfter(String launcher) {
        ProcessHandle.current()
                .parent()
                .filter(parent -> Long.toString(parent.pid()).equals(launcher))
                .ifPresent(parent -> parent.onExit().join());
        CompletableFuture.delayedExecutor(SECONDS_TO_END, TimeUnit.SECONDS)
                .execute(() -> Runtime.getRuntime().halt(INTERRUPTED));
        System.exit(INTERRUPTED);
    }
}

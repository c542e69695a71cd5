package dev.saccade.cli;

import com.google.common.collect.ImmutableList;

import dev.saccade.cli.terminal.StopSignal;
import dev.saccade.core.Printable;
import dev.saccade.core.distributed.RankFailure;
import dev.saccade.core.distributed.RankProcesses;

import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Starts ranks in processes of their own, and starts them again when one has failed. */
final class RankLauncher {

    /** The variable that tells ranks which process is their launcher. */
    private static final String LAUNCHER = "SACCADE_LAUNCHER";

    /** Libtorch's threads of each process. */
    private static final String THREADS = "OMP_NUM_THREADS";

    /** For a step and a checkpoint. */
    private static final int SECONDS_TO_END = 60;

    private static final String RESUME = "--resume";
    private static final int INTERRUPTED = 130;

    private final RankProcesses processes;
    private final Supplier<List<Map<String, String>>> environments;
    private final PrintWriter err;

    /**
     * Makes one that has started nothing yet.
     *
     * @param environments the variables of each rank, asked for before each start
     */
    public RankLauncher(
            RankProcesses processes,
            Supplier<List<Map<String, String>>> environments,
            PrintWriter err) {
        this.processes = processes;
        this.environments = environments;
        this.err = err;
    }

    /**
     * Returns the command line that starts this program again.
     *
     * @param main class with the main method
     * @param arguments of the command line
     */
    public static List<String> thisProgram(Class<?> main, List<String> arguments) {
        String java =
                ProcessHandle.current()
                        .info()
                        .command()
                        .orElse(Path.of(System.getProperty("java.home"), "bin", "java") + "");
        return ImmutableList.<String>builder()
                .add(java)
                .addAll(ManagementFactory.getRuntimeMXBean().getInputArguments())
                .add("-cp", System.getProperty("java.class.path"))
                .add(main.getName())
                .addAll(arguments)
                .build();
    }

    /**
     * Runs ranks to their end, which waits for theirs if Ctrl-C or SIGTERM ends this process.
     *
     * @param command what each of them does
     * @param restarts how often they may be started again
     * @param again prepares another start; returns whether there is a checkpoint to go on from,
     *     which the command is told by {@code --resume}
     * @return the exit code
     */
    public int run(List<String> command, int restarts, BooleanSupplier again) {
        return StopSignal.during(() -> start(command, restarts, again), processes::stop);
    }

    private int start(List<String> command, int restarts, BooleanSupplier again) {
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
                tell(failure);
                return failure.isInterruption() ? INTERRUPTED : failure.exitCode();
            }
            boolean resumes = again.getAsBoolean();
            err.println(
                    Printable.format(
                            "saccade: %s; all ranks start again %s, restart %d of %d",
                            failure,
                            resumes ? "from the last checkpoint" : "from the beginning",
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

    private void tell(RankFailure failure) {
        if (!failure.isReported()) {
            String rest = failure.log().map(log -> "; more is in " + log.file()).orElse("");
            err.println(Printable.format("saccade: %s%s", failure, rest));
        }
    }

    /** Returns whether this process has a launcher. */
    public static boolean isHere() {
        return System.getenv(LAUNCHER) != null;
    }

    /**
     * Has this process end when its launcher does, be that killed: in good order within a minute,
     * or else then. Does nothing in a process that has no launcher.
     */
    public static void endWithLauncher() {
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

package dev.saccade.cli;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;

import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.ThisProgram;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.distributed.RankEnvironment;
import dev.saccade.core.distributed.RankProcesses;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/** Options of commands that run on several ranks. */
final class RankOptions {

    /** Limit that catches typos; above the processor count, because tests use more ranks. */
    private static final int MAX_PROCESSES =
            Math.max(8, 4 * Runtime.getRuntime().availableProcessors());

    @Option(
            names = "--nproc",
            paramLabel = "N",
            description =
                    "Start N processes (ranks) on this machine, each on its own GPU if"
                            + " available. For several machines, run the same command on each of"
                            + " them and set RANK and WORLD_SIZE to the index and number of"
                            + " machines.")
    private Optional<Integer> count = Optional.empty();

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "600",
            description =
                    "Set the maximum time in seconds that ranks wait for each"
                            + " other. Default: ${DEFAULT-VALUE}.")
    private int timeout;

    /** Returns whether this process only starts ranks; rejects options out of range. */
    boolean isLauncher() {
        ConfigArguments.requirePositive("--timeout", timeout);
        count.ifPresent(
                number -> {
                    ConfigArguments.requirePositive("--nproc", number);
                    if (number > MAX_PROCESSES) {
                        throw SaccadeException.user(
                                "--nproc %d: expected at most %d on this machine with %s",
                                number,
                                MAX_PROCESSES,
                                Count.of(Runtime.getRuntime().availableProcessors(), "processor"));
                    }
                });
        return count.isPresent();
    }

    /** Returns whether this process starts all ranks on this machine. */
    boolean isSingleMachine() {
        return isLauncher() && first(RankEnvironment.WORLD_SIZE) == count.orElseThrow();
    }

    /** Returns whether this process starts rank 0, which writes files. */
    boolean startsRankZero() {
        return isLauncher() && first(RankEnvironment.RANK) == 0;
    }

    private int first(String variable) {
        return Integer.parseInt(environments().get(0).get(variable));
    }

    private List<Map<String, String>> environments() {
        return RankEnvironment.localRanks(System.getenv(), count.orElseThrow());
    }

    /**
     * Starts ranks with the arguments of this process; returns the exit code.
     *
     * @param logs folder for the output of all ranks except rank 0
     * @param prepareRestart prepares a restart; returns whether there is a checkpoint
     */
    int start(CommandSpec command, Path logs, int restarts, BooleanSupplier prepareRestart) {
        RankLauncher launcher =
                new RankLauncher(
                        new RankProcesses(logs, RankProcesses.GRACE),
                        this::environments,
                        command.commandLine().getErr());
        List<String> arguments = command.root().commandLine().getParseResult().originalArgs();
        return launcher.run(
                ThisProgram.command(
                        Saccade.class,
                        List.of(),
                        removeOptions(arguments, "--nproc", "--max-restarts")),
                restarts,
                prepareRestart);
    }

    /** Starts ranks and returns the exit code; keeps their temporary logs if a rank fails. */
    int start(CommandSpec command) {
        Path logs = temporaryFolder();
        int code = start(command, logs, 0, () -> false);
        if (code == 0) {
            delete(logs);
        }
        return code;
    }

    /** Returns the task, with the rank if there are several ranks. */
    static String ofRank(String task) {
        ProcessGroup ranks = ProcessGroup.current();
        return ranks.worldSize() == 1
                ? task
                : Text.format("%s, rank %d of %d", task, ranks.rank(), ranks.worldSize());
    }

    private static Path temporaryFolder() {
        try {
            return Files.createTempDirectory("saccade-ranks");
        } catch (IOException e) {
            throw SaccadeException.io(
                    e, "no temporary folder could be created: %s", e.getMessage());
        }
    }

    private static void delete(Path logs) {
        try {
            MoreFiles.deleteRecursively(logs, RecursiveDeleteOption.ALLOW_INSECURE);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be deleted: %s", logs, e.getMessage());
        }
    }

    /** Returns the arguments without the given options and their values. */
    static List<String> removeOptions(List<String> arguments, String... options) {
        List<String> left = new ArrayList<>();
        for (Iterator<String> each = arguments.iterator(); each.hasNext(); ) {
            String argument = each.next();
            if (List.of(options).contains(argument)) {
                each.next();
            } else if (!List.of(options).contains(argument.replaceFirst("=.*", ""))) {
                left.add(argument);
            }
        }
        return left;
    }

    /** Runs work as one rank, or alone; returns the result. An error also fails the other ranks. */
    <T> T run(Function<ProcessGroup, T> work) {
        RankLauncher.exitWithLauncher();
        Duration patience = Duration.ofSeconds(timeout);
        try (ProcessGroup ranks =
                RankEnvironment.rendezvous(System.getenv(), patience)
                        .map(ProcessGroup::join)
                        .orElseGet(ProcessGroup::alone)) {
            try {
                return ProcessGroup.with(ranks, () -> work.apply(ranks));
            } catch (RuntimeException | Error e) {
                ranks.fail(e instanceof SaccadeException ? e.getMessage() : e.toString());
                throw e;
            }
        }
    }
}

package dev.saccade.cli;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;

import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
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

/**
 * The options of commands that several ranks do together. Such a process starts the ranks, or is
 * one of them, or alone.
 */
final class RankOptions {

    /** More have been a slip of the finger; tests have more than there are processors. */
    private static final int MOST = Math.max(8, 4 * Runtime.getRuntime().availableProcessors());

    @Option(
            names = "--nproc",
            paramLabel = "N",
            description =
                    "Compute in N processes of this machine, ranks, each on a GPU of its own if"
                            + " there are any. RANK and WORLD_SIZE of the environment count"
                            + " machines then, each of which is given the same command.")
    private Optional<Integer> count = Optional.empty();

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "600",
            description = "How long ranks wait for one another; ${DEFAULT-VALUE} by default.")
    private int timeout;

    /**
     * Returns whether this process starts the ranks, and computes nothing itself.
     *
     * @throws SaccadeException of kind user, if the numbers of the options are none
     */
    boolean areToBeStarted() {
        ConfigArguments.requirePositive("--timeout", timeout);
        count.ifPresent(
                number -> {
                    ConfigArguments.requirePositive("--nproc", number);
                    if (number > MOST) {
                        throw SaccadeException.user(
                                "--nproc %d: expected %d at most, as this machine has %s",
                                number,
                                MOST,
                                Count.of(Runtime.getRuntime().availableProcessors(), "processor"));
                    }
                });
        return count.isPresent();
    }

    /** Returns whether this process starts them, and no other does on another machine. */
    boolean areAllOfThisMachine() {
        return areToBeStarted() && first(RankEnvironment.WORLD_SIZE) == count.orElseThrow();
    }

    /** Returns whether this process starts rank 0, which writes files. */
    boolean startTheFirst() {
        return areToBeStarted() && first(RankEnvironment.RANK) == 0;
    }

    private int first(String variable) {
        return Integer.parseInt(environments().get(0).get(variable));
    }

    private List<Map<String, String>> environments() {
        return RankEnvironment.localRanks(System.getenv(), count.orElseThrow());
    }

    /**
     * Starts the ranks, each of which is given what this process was told.
     *
     * @param command the one of this process
     * @param logs the folder for what ranks say that have no terminal
     * @param restarts how often they may be started again
     * @param again prepares another start; returns whether there is a checkpoint to go on from
     * @return the exit code
     */
    int start(CommandSpec command, Path logs, int restarts, BooleanSupplier again) {
        RankLauncher launcher =
                new RankLauncher(
                        new RankProcesses(logs, RankProcesses.GRACE),
                        this::environments,
                        command.commandLine().getErr());
        List<String> arguments = command.root().commandLine().getParseResult().originalArgs();
        return launcher.run(
                RankLauncher.thisProgram(
                        Saccade.class, without(arguments, "--nproc", "--max-restarts")),
                restarts,
                again);
    }

    /**
     * Starts the ranks of a command that has no run to keep their logs in: they stay if one fails.
     *
     * @return the exit code
     */
    int start(CommandSpec command) {
        Path logs = temporaryFolder();
        int code = start(command, logs, 0, () -> false);
        if (code == 0) {
            delete(logs);
        }
        return code;
    }

    /** Returns what a rank does, and which one it is if there are several. */
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
                    e, "there is no place for temporary files: %s", e.getMessage());
        }
    }

    private static void delete(Path logs) {
        try {
            MoreFiles.deleteRecursively(logs, RecursiveDeleteOption.ALLOW_INSECURE);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be deleted: %s", logs, e.getMessage());
        }
    }

    /** Returns arguments without options that have a value each. */
    static List<String> without(List<String> arguments, String... options) {
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

    /**
     * Does what all ranks do together, if this process is one of several, and tells the others if
     * it fails; alone otherwise.
     *
     * @param work what this one does
     */
    <T> T together(Function<ProcessGroup, T> work) {
        RankLauncher.endWithLauncher();
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

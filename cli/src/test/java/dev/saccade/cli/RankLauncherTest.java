package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.core.ThisProgram;
import dev.saccade.core.distributed.RankEnvironment;
import dev.saccade.core.distributed.RankProcesses;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

@Timeout(120)
class RankLauncherTest {

    private static final Path RECIPE =
            Path.of("..", "configs", "retinanet", "resnet18_fpn_demo.yaml");

    @TempDir private Path folder;

    /** Launches two ranks, each of them a {@link Rank}. */
    static final class Launcher {

        private Launcher() {}

        public static void main(String[] args) {
            System.exit(
                    launcher(Path.of(args[0]), new PrintWriter(System.err, true, UTF_8))
                            .run(java(Rank.class, args[0]), 0, () -> false));
        }
    }

    /** Waits for a signal and then writes a file. */
    static final class Rank {

        private Rank() {}

        public static void main(String[] args) throws Exception {
            Path folder = Path.of(args[0]);
            String rank = System.getenv("RANK");
            Runtime.getRuntime()
                    .addShutdownHook(new Thread(() -> write(folder.resolve(rank + ".saved"), "")));
            RankLauncher.exitWithLauncher();
            write(folder.resolve(rank + ".pid"), Long.toString(ProcessHandle.current().pid()));
            Thread.sleep(Duration.ofMinutes(10).toMillis());
        }
    }

    private static void write(Path file, String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<String> java(Class<?> main, String argument) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xshare:auto",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName(),
                argument);
    }

    private static RankLauncher launcher(Path folder, PrintWriter err) {
        return new RankLauncher(
                new RankProcesses(folder.resolve("ranks"), Duration.ofMillis(500)),
                () -> RankEnvironment.localRanks(Map.of(), 2),
                err);
    }

    /** Runs a script on two ranks; returns the exit code and the output. */
    private CommandResult run(String script, int restarts, BooleanSupplier again) {
        StringWriter said = new StringWriter();
        PrintWriter err = new PrintWriter(said);
        int code =
                launcher(folder, err)
                        .run(
                                List.of("sh", "-c", "cd " + folder + "; " + script, "train"),
                                restarts,
                                again);
        return new CommandResult(code, "", said.toString());
    }

    @Test
    void successfulRanksPrintNothing() {
        assertEquals(new CommandResult(0, "", ""), run("exit 0", 3, () -> true));
    }

    @ParameterizedTest
    @CsvSource({"2, 2", "70, 70", "3, 3", "130, 130", "143, 130"})
    void exitCodeIsThatOfFailedRank(int code, int expected) {
        assertEquals(
                new CommandResult(expected, "", ""),
                run("[ $RANK = 1 ] || exit " + code, 0, () -> true));
    }

    @Test
    void printsFailuresThatAreOnlyInLogs() {
        assertEquals(
                new CommandResult(
                        70,
                        "",
                        String.format(
                                Locale.ROOT,
                                "saccade: rank 1 ended with exit code 70: odd; see %s%n",
                                folder.resolve("ranks/1.log"))),
                run("[ $RANK = 0 ] || { echo odd; exit 70; }", 0, () -> true));
        assertEquals(
                new CommandResult(
                        137, "", "saccade: rank 0 was killed by SIGKILL, possibly out of memory\n"),
                run("[ $RANK = 1 ] || kill -9 $$", 0, () -> true));
    }

    @Test
    void failedRanksAreRestarted() throws IOException {
        // The second start saves a checkpoint, and the fourth one succeeds.
        Iterator<Boolean> saved = List.of(false, true, true).iterator();
        CommandResult ended =
                run(
                        "[ $RANK = 0 ] || { echo start $1 >> starts; echo bad; [ $(wc -l < starts)"
                                + " = 4 ] || exit 70; }",
                        5,
                        saved::next);
        String start = "saccade: rank 1 ended with exit code 70: bad; restarting all ranks from ";
        assertEquals(
                new CommandResult(
                        0,
                        "",
                        start
                                + "the start, restart 1 of 5\n"
                                + start
                                + "the last checkpoint, restart 2 of 5\n"
                                + start
                                + "the last checkpoint, restart 3 of 5\n"),
                ended);
        assertEquals(
                List.of("start", "start", "start --resume", "start --resume"),
                Files.readAllLines(folder.resolve("starts")));
    }

    @ParameterizedTest
    @CsvSource({"70, 3", "3, 3", "2, 1", "130, 1", "143, 1"})
    void userErrorsAndCtrlCAreNotRestarted(int code, int starts) throws IOException {
        CommandResult ended =
                run("[ $RANK = 1 ] || { echo >> starts; exit " + code + "; }", 2, () -> true);
        assertEquals(starts, Files.readAllLines(folder.resolve("starts")).size());
        assertEquals(code == 143 ? 130 : code, ended.code());
    }

    @Test
    void dividesThreadsAmongRanks() throws IOException {
        String expected =
                System.getenv()
                        .getOrDefault(
                                "OMP_NUM_THREADS",
                                Math.max(1, Runtime.getRuntime().availableProcessors() / 2) + "");
        run("echo $OMP_NUM_THREADS > $RANK.threads", 0, () -> true);
        assertEquals(expected, Files.readString(folder.resolve("1.threads")).strip());
    }

    private Process launch() throws IOException, InterruptedException {
        Process process =
                new ProcessBuilder(java(Launcher.class, folder.toString()))
                        .redirectErrorStream(true)
                        .redirectOutput(folder.resolve("output").toFile())
                        .start();
        for (int rank = 0; rank < 2; rank++) {
            Path pid = folder.resolve(rank + ".pid");
            while (!Files.exists(pid) || Files.size(pid) == 0) {
                assertTrue(process.isAlive(), Files.readString(folder.resolve("output")));
                Thread.sleep(20);
            }
        }
        return process;
    }

    private List<ProcessHandle> ranks() throws IOException {
        List<ProcessHandle> left = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            long pid = Long.parseLong(Files.readString(folder.resolve(rank + ".pid")));
            ProcessHandle.of(pid).ifPresent(left::add);
        }
        return left;
    }

    @Test
    void killedLauncherLeavesNoRanks() throws Exception {
        Process launcher = launch();
        List<ProcessHandle> ranks = ranks();
        assertEquals(2, ranks.size());
        launcher.destroyForcibly().waitFor();
        for (ProcessHandle rank : ranks) {
            rank.onExit().get(60, TimeUnit.SECONDS);
        }
        assertTrue(Files.exists(folder.resolve("0.saved")), "they end in good order");
        assertTrue(Files.exists(folder.resolve("1.saved")), "they end in good order");
    }

    @Test
    void terminatedLauncherWaitsForRanks() throws Exception {
        Process launcher = launch();
        launcher.destroy();
        assertEquals(143, launcher.waitFor(), "as of any process that SIGTERM ends");
        assertEquals(List.of(), ranks());
        assertTrue(Files.exists(folder.resolve("0.saved")));
        assertTrue(Files.exists(folder.resolve("1.saved")));
        assertEquals("", Files.readString(folder.resolve("output")));
    }

    @Test
    void ranksGetArgumentsOfLauncher() {
        List<String> command =
                ThisProgram.command(Saccade.class, List.of(), List.of("train", "a b.yaml"));
        assertTrue(Path.of(command.get(0)).isAbsolute(), command.get(0));
        assertEquals(
                List.of(Saccade.class.getName(), "train", "a b.yaml"),
                command.subList(command.size() - 3, command.size()));
        assertTrue(command.contains("-Djava.awt.headless=true"), command.toString());
        assertEquals(
                List.of("train", "a", "--out", "b", "--timeout", "9"),
                RankOptions.removeOptions(
                        List.of(
                                "train",
                                "a",
                                "--nproc",
                                "2",
                                "--out",
                                "b",
                                "--max-restarts=3",
                                "--timeout",
                                "9"),
                        "--nproc",
                        "--max-restarts"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--nproc 0 | --nproc 0: expected a number above 0",
                "--nproc 5000 | --nproc 5000: expected ",
                "--nproc 2 --timeout 0 | --timeout 0: expected a number above 0",
                "--nproc 2 --max-restarts -1 | --max-restarts -1: expected 0 or more",
                "--max-restarts 1 | --max-restarts 1: needs --nproc",
                "--nproc 2 --set oops | oops: expected key.key=value",
                "--nproc 2 --resume | FOLDER: is not a run folder; config.yaml is missing",
                "--nproc 2 | FOLDER: not empty; resume the run in it, or choose another folder"
            })
    void reportsInvalidOptionsBeforeStartingRanks(String options, String printed)
            throws IOException {
        Files.createFile(folder.resolve("other"));
        List<Object> args = new ArrayList<>(List.of("train", RECIPE, "--out", folder));
        args.addAll(List.of(options.split(" ")));
        CommandResult ended = saccade(args.toArray());
        assertEquals(2, ended.code(), ended.err());
        assertTrue(ended.err().contains(printed.replace("FOLDER", folder.toString())), ended.err());
        assertFalse(Files.exists(folder.resolve("ranks")), "nothing is written");
    }
}

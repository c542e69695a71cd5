package dev.saccade.core.distributed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

@Timeout(60)
class RankProcessesTest {

    /** A rank that keeps running and writes its process id. */
    private static final String GOES_ON = "echo $$ > $RANK.pid; exec sleep 600";

    @TempDir private Path folder;
    private RankProcesses processes;

    @BeforeEach
    void make() {
        processes = new RankProcesses(folder.resolve("logs"), Duration.ofMillis(300));
    }

    /** Runs a script on several ranks in the temporary folder. */
    private Optional<RankFailure> run(int ranks, String script) {
        return processes.run(
                List.of("sh", "-c", "cd " + folder + "; " + script),
                RankEnvironment.localRanks(Map.of(), ranks));
    }

    private RankFailure failure(int ranks, String script) {
        return run(ranks, script).orElseThrow();
    }

    private void waitFor(String... names) throws InterruptedException {
        while (!Stream.of(names).allMatch(name -> Files.exists(folder.resolve(name)))) {
            Thread.sleep(10);
        }
    }

    private boolean isAlive(int rank) throws IOException {
        String pid = Files.readString(folder.resolve(rank + ".pid")).strip();
        return ProcessHandle.of(Long.parseLong(pid)).isPresent();
    }

    private List<String> log(int rank) throws IOException {
        return Files.readAllLines(folder.resolve("logs").resolve(rank + ".log"));
    }

    @Test
    void setsVariablesAndLogsPerRank() throws IOException {
        String script =
                "if [ $RANK -gt 0 ]; then echo $LOCAL_RANK of $WORLD_SIZE; echo bad >&2; fi";
        assertEquals(Optional.empty(), run(3, script));
        assertEquals(Optional.empty(), run(3, script));
        assertFalse(Files.exists(folder.resolve("logs/0.log")), "rank 0 has the terminal");
        List<String> log = log(2);
        assertEquals(6, log.size(), "both starts");
        for (int start : new int[] {0, 3}) {
            assertTrue(
                    log.get(start).matches("=== rank 2 starts, \\d{4}-\\d\\d-\\d\\d [\\d:]{8}"),
                    log.get(start));
            assertEquals(List.of("2 of 3", "bad"), log.subList(start + 1, start + 3));
        }
    }

    @Test
    void endsAllRanksIfOneFails() throws IOException {
        String first =
                "if [ $RANK = 1 ]; then while [ ! -e 0.pid -o ! -e 2.pid ]; do sleep 0.1; done;";
        RankFailure failure = failure(3, first + " echo saccade: no disk; exit 7; fi; " + GOES_ON);
        assertEquals("rank 1 ended with exit code 7: no disk", failure.toString());
        assertFalse(isAlive(0) || isAlive(2));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "trap '' TERM; sleep 600 & wait; sleep 600",
                "kill -STOP $$; exec sleep 600"
            })
    void killsRanksThatIgnoreSignals(String deaf) throws IOException {
        String rank1 = "echo $$ > 1.pid; " + deaf;
        RankFailure failure =
                failure(
                        2,
                        "if [ $RANK = 1 ]; then "
                                + rank1
                                + "; fi; while [ ! -e 1.pid ]; do sleep 0.1; done; exit 3");
        assertEquals(0, failure.rank());
        assertFalse(isAlive(1));
    }

    @Test
    void ranksCanReportWhyTheyEnd() {
        // Rank 0 ends because rank 1 has failed.
        String script = "if [ $RANK = 0 ]; then exit 3; fi; sleep 0.1; echo wrong key; exit 2";
        assertEquals("rank 1 ended with exit code 2: wrong key", failure(2, script).toString());
    }

    @ParameterizedTest
    @CsvSource({
        "1 70;0 3;2 3,       1 70",
        "0 3;2 3;1 70,       1 70",
        "0 3;1 3,            0 3",
        "1 137;0 3,          1 137",
        "1 1;0 70,           1 1",
        "1 70;2 2;0 3,       2 2",
        "3 2;0 2;1 2,        0 2",
        "1 143;0 130;2 3,    1 143",
        "2 3;0 130,          0 130",
        "2 130;1 2,          1 2"
    })
    void reportsTheLastLineOfTheLog(String ended, String expected) {
        List<RankFailure> failures =
                Stream.of(ended.split(";")).map(RankProcessesTest::failure).toList();
        assertEquals(failure(expected), RankFailure.rootFailure(failures));
    }

    private static RankFailure failure(String text) {
        String[] parts = text.split(" ", 2);
        return new RankFailure(
                Integer.parseInt(parts[0]), Integer.parseInt(parts[1]), Optional.empty());
    }

    @Test
    void namesSignals() {
        assertEquals(
                "rank 1 was killed by SIGKILL, possibly out of memory: last words",
                failure(2, "if [ $RANK = 1 ]; then echo last words; kill -9 $$; fi; exec sleep 9")
                        .toString());
        assertEquals("rank 0 was killed by SIGSEGV", failure("0 139").toString());
        assertEquals("rank 0 ended with exit code 200", failure("0 200").toString());
    }

    @Test
    void reportsTheErrorOfAStackTrace() {
        String trace = "printf 'a bug\\njava.lang.Error: odd\\n\\tat A.b\\n\\tat C.d\\n\\n'";
        String script = "if [ $RANK = 1 ]; then " + trace + "; exit 70; fi";
        assertEquals(
                "rank 1 ended with exit code 70: java.lang.Error: odd",
                failure(2, script).toString());
        // The log starts with the output of the previous start.
        assertEquals(
                "rank 1 ended with exit code 70",
                failure(2, "if [ $RANK = 1 ]; then exit 70; fi").toString());
    }

    @Test
    void stopWaitsForRanks() throws Exception {
        CompletableFuture<Optional<RankFailure>> running =
                CompletableFuture.supplyAsync(
                        () ->
                                run(
                                        2,
                                        "trap 'sleep 1; echo > $RANK.saved; exit 143' TERM;"
                                                + " echo > $RANK.begun;"
                                                + " while :; do sleep 0.1; done"));
        waitFor("0.begun", "1.begun");
        processes.stop();
        processes.stop();
        assertEquals(Optional.empty(), running.get());
        assertTrue(Files.exists(folder.resolve("0.saved")));
        assertTrue(Files.exists(folder.resolve("1.saved")));
        assertEquals(Optional.empty(), run(2, "echo > $RANK.late"), "none is started any more");
        assertFalse(Files.exists(folder.resolve("0.late")));
    }

    @Test
    void reportsRanksThatCannotStart() {
        SaccadeException error =
                assertThrows(
                        SaccadeException.class,
                        () ->
                                processes.run(
                                        List.of(folder.resolve("nothing").toString()),
                                        RankEnvironment.localRanks(Map.of(), 2)));
        assertEquals(SaccadeException.Kind.IO, error.kind());
        assertTrue(error.getMessage().startsWith("rank 0 cannot be started: "), error.getMessage());
    }
}

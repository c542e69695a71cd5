package dev.saccade.cli.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.Text;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Feeds random inputs to every target: each is accepted or rejected with a message, soon and
 * without much memory, and accepted inputs stay the same when written and read again.
 *
 * <p>Inputs depend on {@code -Dsaccade.fuzz.seed} and their number only. Each target gets {@code
 * -Dsaccade.fuzz.inputs} of them, or as many as fit into {@code -Dsaccade.fuzz.minutes} for all
 * targets, or for those whose names begin with {@code -Dsaccade.fuzz.target}. Failing inputs are
 * kept in {@code target/fuzz}; {@code -Dsaccade.fuzz.replay=FILE} runs one again.
 */
class FuzzTest {

    private static final int INPUTS = 300;
    private static final int MAX_CRASHES = 100;

    private final Findings findings = new Findings(Path.of("target", "fuzz").toAbsolutePath());
    private final long seed = Long.getLong("saccade.fuzz.seed", 1);
    private final String replayed = System.getProperty("saccade.fuzz.replay", "");
    private final List<String> targets = targets();

    @TempDir Path folder;

    private List<String> targets() {
        String wanted = System.getProperty("saccade.fuzz.target", "");
        return FuzzTargets.NAMES.stream()
                .filter(name -> name.startsWith(wanted))
                .filter(
                        name ->
                                replayed.isEmpty()
                                        || Path.of(replayed)
                                                .getFileName()
                                                .toString()
                                                .startsWith(name + "-"))
                .toList();
    }

    @TestFactory
    Stream<DynamicTest> noInputCrashesATarget() throws IOException, InterruptedException {
        assertTrue(!targets.isEmpty(), "one of these targets expected: " + FuzzTargets.NAMES);
        if (replayed.isEmpty()) {
            findings.clear();
        }
        Path file = folder.resolve("tally");
        Tally tally = Tally.open(file, targets.size());
        int crashes = 0;
        for (int code = run(file); code != 0; code = run(file)) {
            if (code != Watchdog.STUCK) {
                noteCrash(tally);
            }
            assertTrue(++crashes < MAX_CRASHES, this::output);
        }
        return IntStream.range(0, targets.size())
                .mapToObj(
                        row ->
                                DynamicTest.dynamicTest(
                                        summary(tally, row), () -> check(tally, row)));
    }

    /** Runs a process that goes on where the last one ended, and returns its exit code. */
    private int run(Path tally) throws IOException, InterruptedException {
        int minutes = Integer.getInteger("saccade.fuzz.minutes", 0);
        long inputs = Long.getLong("saccade.fuzz.inputs", minutes > 0 ? Long.MAX_VALUE : INPUTS);
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-Djava.awt.headless=true"));
        command.addAll(List.of("-XX:-OmitStackTraceInFastThrow", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of("-Dai.djl.offline=true", "-Dai.djl.pytorch.num_threads=1"));
        command.add("-Dsaccade.home=" + Path.of("..").toAbsolutePath());
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.add(Fuzzer.class.getName());
        command.addAll(List.of(tally.toString(), findings.folder().toString()));
        command.add(Long.toString(seed));
        command.add(Long.toString(replayed.isEmpty() ? inputs : 1));
        command.add(
                Long.toString(minutes > 0 ? minutes * 60L / targets.size() : Integer.MAX_VALUE));
        command.add(replayed.isEmpty() ? "" : Path.of(replayed).toAbsolutePath().toString());
        command.addAll(targets);
        // Decoders in C print what they think of an image, millions of times.
        return new ProcessBuilder(command)
                .directory(Files.createDirectories(folder.resolve("work")).toFile())
                .redirectOutput(folder.resolve("output").toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
    }

    /** Blames the input that was begun last. */
    private void noteCrash(Tally tally) {
        int row =
                IntStream.range(0, targets.size())
                        .filter(tally::isOpen)
                        .findFirst()
                        .orElseThrow(() -> new AssertionError("the fuzzer itself: " + output()));
        FuzzTarget target = FuzzTargets.of(targets.get(row));
        long number = tally.get(row, Tally.Column.BEGUN) - 1;
        Error crash = new InternalError("the process ended: " + output());
        crash.setStackTrace(new StackTraceElement[0]);
        findings.add(target, seed, number, new Inputs(target, seed).get(number), crash);
        tally.add(row, Tally.Column.FAILED, 1);
    }

    private String output() {
        try {
            return Files.readString(folder.resolve("output"));
        } catch (IOException e) {
            return e.toString();
        }
    }

    private String summary(Tally tally, int row) {
        double seconds = tally.get(row, Tally.Column.NANOS) / 1e9;
        return Text.format(
                "%s: %d inputs, %d accepted, %d refused, %d failed, %.0f a second, at most %d KiB",
                targets.get(row),
                tally.get(row, Tally.Column.BEGUN),
                tally.get(row, Tally.Column.ACCEPTED),
                tally.get(row, Tally.Column.REFUSED),
                tally.get(row, Tally.Column.FAILED),
                tally.get(row, Tally.Column.BEGUN) / seconds,
                tally.get(row, Tally.Column.MAX_BYTES) >> 10);
    }

    private void check(Tally tally, int row) throws IOException {
        assertEquals(
                0,
                tally.get(row, Tally.Column.FAILED),
                () -> String.join("\n", findings.of(targets.get(row))));
        boolean open = tally.get(row, Tally.Column.ACCEPTED) > 0;
        assertTrue(open || !replayed.isEmpty(), "a target that accepts nothing");
    }
}

package dev.saccade.cli.fuzz;

import com.google.common.base.Stopwatch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongFunction;

/**
 * Lets inputs in at a door, one after the other, in a process of its own with a small heap, so that
 * {@link FuzzTest} survives what it does not.
 */
final class Fuzzer {

    private final Door door;
    private final int row;
    private final Tally tally;
    private final Findings findings;
    private final long seed;
    private final Watchdog watchdog = new Watchdog(this::fail);

    private Fuzzer(Door door, int row, Tally tally, Findings findings, long seed) {
        this.door = door;
        this.row = row;
        this.tally = tally;
        this.findings = findings;
        this.seed = seed;
    }

    /**
     * Goes on where the tally ends.
     *
     * @param args the files of {@link Tally} and {@link Findings}, the seed, how many inputs and
     *     seconds each door is given at most, a file to let in instead of all others or nothing,
     *     and the names of the doors
     */
    public static void main(String[] args) throws IOException {
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> e.printStackTrace(System.out));
        List<String> names = Arrays.asList(args).subList(6, args.length);
        Tally tally = Tally.open(Path.of(args[0]), names.size());
        for (int row = 0; row < names.size(); row++) {
            Door door = Doors.of(names.get(row));
            long seed = Long.parseLong(args[2]);
            LongFunction<byte[]> inputs = new Inputs(door, seed)::get;
            if (!args[5].isEmpty()) {
                byte[] only = Files.readAllBytes(Path.of(args[5]));
                inputs = number -> only;
            }
            new Fuzzer(door, row, tally, new Findings(Path.of(args[1])), seed)
                    .run(
                            inputs,
                            Long.parseLong(args[3]),
                            Duration.ofSeconds(Long.parseLong(args[4])));
        }
        System.exit(0);
    }

    private void run(LongFunction<byte[]> inputs, long most, Duration longest) {
        // What the first inputs allocate are the classes that they load.
        long warm = tally.get(row, Tally.Column.BEGUN) + door.seeds().size();
        while (tally.get(row, Tally.Column.BEGUN) < most
                && tally.get(row, Tally.Column.NANOS) < longest.toNanos()) {
            Stopwatch watch = Stopwatch.createStarted();
            byte[] input = inputs.apply(tally.get(row, Tally.Column.BEGUN));
            tally.add(row, Tally.Column.BEGUN, 1);
            Trial trial = letIn(input);
            if (tally.get(row, Tally.Column.BEGUN) > warm) {
                trial = trial.within(door.allowance(input));
                long bytes = Math.max(trial.bytes(), tally.get(row, Tally.Column.MOST_BYTES));
                tally.set(row, Tally.Column.MOST_BYTES, bytes);
            }
            note(trial, input);
            tally.add(row, Tally.Column.NANOS, watch.elapsed().toNanos());
        }
    }

    private Trial letIn(byte[] input) {
        watchdog.enter(input);
        Trial trial = Trial.of(door, input);
        watchdog.leave();
        return trial;
    }

    private void note(Trial trial, byte[] input) {
        if (trial.failure().isPresent()) {
            fail(shortened(input, trial.failure().get()), trial.failure().get());
        } else {
            Tally.Column column = trial.accepted() ? Tally.Column.ACCEPTED : Tally.Column.REFUSED;
            tally.add(row, column, 1);
        }
    }

    /** Returns the first input of its kind shorter, unless it costs more than it shows. */
    private byte[] shortened(byte[] input, Throwable failure) {
        String kind = Findings.kind(door, failure);
        return findings.has(kind) || failure instanceof VirtualMachineError
                ? input
                : Shortening.of(input, door.format(), less -> fails(less, kind));
    }

    private boolean fails(byte[] input, String kind) {
        return letIn(input)
                .within(door.allowance(input))
                .failure()
                .filter(failure -> Findings.kind(door, failure).equals(kind))
                .isPresent();
    }

    private void fail(byte[] input, Throwable failure) {
        findings.add(door, seed, tally.get(row, Tally.Column.BEGUN) - 1, input, failure);
        tally.add(row, Tally.Column.FAILED, 1);
    }
}

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
 * Lets inputs in at a target, one after the other, in a process of its own with a small heap, so
 * that {@link FuzzTest} survives what it does not.
 */
final class Fuzzer {

    private final FuzzTarget target;
    private final int row;
    private final Tally tally;
    private final Findings findings;
    private final long seed;
    private final Watchdog watchdog = new Watchdog(this::fail);

    private Fuzzer(FuzzTarget target, int row, Tally tally, Findings findings, long seed) {
        this.target = target;
        this.row = row;
        this.tally = tally;
        this.findings = findings;
        this.seed = seed;
    }

    /**
     * Goes on where the tally ends.
     *
     * @param args the files of {@link Tally} and {@link Findings}, the seed, how many inputs and
     *     seconds each target is given at most, a file to let in instead of all others or nothing,
     *     and the names of the targets
     */
    public static void main(String[] args) throws IOException {
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> e.printStackTrace(System.out));
        List<String> names = Arrays.asList(args).subList(6, args.length);
        Tally tally = Tally.open(Path.of(args[0]), names.size());
        for (int row = 0; row < names.size(); row++) {
            FuzzTarget target = FuzzTargets.of(names.get(row));
            long seed = Long.parseLong(args[2]);
            LongFunction<byte[]> inputs = new Inputs(target, seed)::get;
            if (!args[5].isEmpty()) {
                byte[] only = Files.readAllBytes(Path.of(args[5]));
                inputs = number -> only;
            }
            new Fuzzer(target, row, tally, new Findings(Path.of(args[1])), seed)
                    .run(
                            inputs,
                            Long.parseLong(args[3]),
                            Duration.ofSeconds(Long.parseLong(args[4])));
        }
        System.exit(0);
    }

    private void run(LongFunction<byte[]> inputs, long most, Duration longest) {
        // What the first inputs allocate are the classes that they load.
        long warm = tally.get(row, Tally.Column.BEGUN) + target.seeds().size();
        while (tally.get(row, Tally.Column.BEGUN) < most
                && tally.get(row, Tally.Column.NANOS) < longest.toNanos()) {
            Stopwatch watch = Stopwatch.createStarted();
            byte[] input = inputs.apply(tally.get(row, Tally.Column.BEGUN));
            tally.add(row, Tally.Column.BEGUN, 1);
            Trial trial = tryInput(input);
            if (tally.get(row, Tally.Column.BEGUN) > warm) {
                trial = trial.checkAllocation(target.allowance(input));
                long bytes = Math.max(trial.bytes(), tally.get(row, Tally.Column.MAX_BYTES));
                tally.set(row, Tally.Column.MAX_BYTES, bytes);
            }
            note(trial, input);
            tally.add(row, Tally.Column.NANOS, watch.elapsed().toNanos());
        }
    }

    private Trial tryInput(byte[] input) {
        watchdog.enter(input);
        Trial trial = Trial.of(target, input);
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
        String kind = Findings.kind(target, failure);
        return findings.has(kind) || failure instanceof VirtualMachineError
                ? input
                : Shortening.of(input, target.format(), less -> fails(less, kind));
    }

    private boolean fails(byte[] input, String kind) {
        return tryInput(input)
                .checkAllocation(target.allowance(input))
                .failure()
                .filter(failure -> Findings.kind(target, failure).equals(kind))
                .isPresent();
    }

    private void fail(byte[] input, Throwable failure) {
        findings.add(target, seed, tally.get(row, Tally.Column.BEGUN) - 1, input, failure);
        tally.add(row, Tally.Column.FAILED, 1);
    }
}

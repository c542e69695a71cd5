package dev.saccade.core.ops.memory;

import static com.google.common.collect.ImmutableSet.toImmutableSet;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.Tracer;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Counts transfers between Java memory and arrays by source line.
 *
 * <p>Reading from a GPU waits for all pending work and leaves the GPU idle, so a training step
 * should read only once. Transfers are also counted on a CPU, so that tests can check their number
 * without a GPU. Counts cover {@link Tensors} and, if fused operators are loaded, implicit reads in
 * a {@link Script}, such as {@code int(x)} or {@code nonzero}.
 */
public final class HostTransfers {

    private static final ThreadLocal<HostTransfers> COUNTING = new ThreadLocal<>();

    private static final StackWalker STACK = StackWalker.getInstance();

    private static final Set<String> SKIPPED_CLASSES =
            Stream.of(
                            HostTransfers.class,
                            Tensors.class,
                            Functional.class,
                            Script.class,
                            NoGrad.class)
                    .map(Class::getName)
                    .collect(toImmutableSet());

    private final Map<String, Integer> reads = new TreeMap<>();
    private final Map<String, Integer> writes = new TreeMap<>();

    /** Whether a script is reading libtorch's counter. */
    private boolean readsCounter;

    private HostTransfers() {}

    /** Counts the transfers of this thread while it runs {@code body}. */
    public static HostTransfers count(Runnable body) {
        HostTransfers outer = COUNTING.get();
        HostTransfers counted = new HostTransfers();
        countInLibtorch(true);
        COUNTING.set(counted);
        try {
            body.run();
        } finally {
            COUNTING.set(outer);
            countInLibtorch(outer != null);
        }
        return counted;
    }

    /** Returns the number of reads by class, method and line. */
    public Map<String, Integer> reads() {
        return ImmutableMap.copyOf(reads);
    }

    /** Returns the number of writes by class, method and line. */
    public Map<String, Integer> writes() {
        return ImmutableMap.copyOf(writes);
    }

    public static void countRead() {
        if (Tracer.isRecording()) {
            throw SaccadeException.user(
                    "%s reads the values of an array, which cannot be traced", place());
        }
        count(counting -> counting.reads);
    }

    public static void countWrite() {
        count(counting -> counting.writes);
    }

    private static void count(Function<HostTransfers, Map<String, Integer>> kind) {
        HostTransfers counting = COUNTING.get();
        if (counting != null) {
            kind.apply(counting).merge(place(), 1, Integer::sum);
        }
    }

    private static void countInLibtorch(boolean counted) {
        if (Kernels.areOn()) {
            Kernels.numbers("count_reads", Kernels.TOKEN, counted);
        }
    }

    /** Counts implicit reads of the last script, unless the values read are always on the CPU. */
    public static void afterScript(boolean onCpu) {
        HostTransfers counting = COUNTING.get();
        if (counting == null || counting.readsCounter || !Kernels.areOn()) {
            return;
        }
        counting.readsCounter = true;
        try {
            int read = (int) Kernels.numbers("counted_reads", Kernels.TOKEN)[0];
            if (read > 0 && !onCpu) {
                counting.reads.merge(place(), read, Integer::sum);
            }
        } finally {
            counting.readsCounter = false;
        }
    }

    private static String place() {
        return STACK.walk(
                frames ->
                        frames.dropWhile(frame -> SKIPPED_CLASSES.contains(frame.getClassName()))
                                .findFirst()
                                .map(HostTransfers::place)
                                .orElseThrow());
    }

    private static String place(StackWalker.StackFrame frame) {
        String type = frame.getClassName();
        return Text.format(
                "%s.%s:%d",
                type.substring(type.lastIndexOf('.') + 1),
                frame.getMethodName(),
                frame.getLineNumber());
    }
}

package dev.saccade.core.ops;

import com.google.common.collect.ImmutableMap;

import java.util.Map;
import java.util.TreeMap;

/**
 * How often numbers travel between the memory of Java and that of arrays, by the place in the code.
 *
 * <p>On a GPU a read waits until all is done that the GPU was told before, and the GPU then waits
 * for what it is told next; a step of a training should have one. Reads and writes are counted on
 * CPUs as well, where they cost nothing, so that a test without a GPU can hold their number. They
 * go through {@link Tensors}.
 */
public final class HostTransfers {

    private static final ThreadLocal<HostTransfers> COUNTING = new ThreadLocal<>();

    private static final StackWalker STACK = StackWalker.getInstance();

    private final Map<String, Integer> reads = new TreeMap<>();
    private final Map<String, Integer> writes = new TreeMap<>();

    private HostTransfers() {}

    /** Counts what this thread reads and writes while it runs something. */
    public static HostTransfers during(Runnable body) {
        HostTransfers outer = COUNTING.get();
        HostTransfers counted = new HostTransfers();
        COUNTING.set(counted);
        try {
            body.run();
        } finally {
            COUNTING.set(outer);
        }
        return counted;
    }

    /** Returns how often arrays were read, by class, method and line. */
    public Map<String, Integer> reads() {
        return ImmutableMap.copyOf(reads);
    }

    /** Returns how often numbers of Java became arrays, by class, method and line. */
    public Map<String, Integer> writes() {
        return ImmutableMap.copyOf(writes);
    }

    static void countRead() {
        HostTransfers counting = COUNTING.get();
        if (counting != null) {
            counting.reads.merge(place(), 1, Integer::sum);
        }
    }

    static void countWrite() {
        HostTransfers counting = COUNTING.get();
        if (counting != null) {
            counting.writes.merge(place(), 1, Integer::sum);
        }
    }

    private static String place() {
        return STACK.walk(
                frames ->
                        frames.dropWhile(frame -> isOfTensors(frame.getClassName()))
                                .findFirst()
                                .map(HostTransfers::place)
                                .orElseThrow());
    }

    private static boolean isOfTensors(String type) {
        return type.equals(Tensors.class.getName()) || type.equals(HostTransfers.class.getName());
    }

    private static String place(StackWalker.StackFrame frame) {
        String type = frame.getClassName();
        return "%s.%s:%d"
                .formatted(
                        type.substring(type.lastIndexOf('.') + 1),
                        frame.getMethodName(),
                        frame.getLineNumber());
    }
}

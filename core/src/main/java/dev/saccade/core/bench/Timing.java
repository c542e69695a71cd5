package dev.saccade.core.bench;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Text;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.OperatorLibrary;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.DoubleStream;

/** Median and minimum run time in seconds. */
public record Timing(double median, double least) {

    public static final String FUSED = "fused";

    public static final String PORTABLE = "portable";

    private static final double NANOS = 1e9;

    /**
     * Variants and runs to time.
     *
     * @param runs number of timed runs
     * @param portable whether to time portable operators if fused ones are available
     * @param warmUp minimum warm-up time of each variant in seconds
     */
    public record Plan(int runs, boolean portable, double warmUp) {}

    /**
     * Times a computation with fused operators (if available) and portable ones; see {@link Plan}.
     */
    public static Map<String, Timing> measure(Runnable body, Plan plan) {
        Map<String, Runnable> variants = new LinkedHashMap<>();
        if (Kernels.status().loaded()) {
            variants.put(FUSED, body);
        }
        if (variants.isEmpty() || plan.portable) {
            variants.put(
                    PORTABLE,
                    () ->
                            OperatorLibrary.callPortable(
                                    () -> {
                                        body.run();
                                        return true;
                                    }));
        }
        variants.values().forEach(variant -> warmUp(variant, plan.warmUp));
        return inTurn(variants, plan.runs);
    }

    /**
     * Repeats a computation until {@code seconds} have passed. The first runs are slower, until the
     * JVM has compiled their code.
     */
    public static void warmUp(Runnable body, double seconds) {
        long start = System.nanoTime();
        while (System.nanoTime() - start < seconds * NANOS) {
            body.run();
        }
    }

    /**
     * Times the variants alternately after a warm-up run, so that disturbances affect all equally.
     */
    public static Map<String, Timing> inTurn(Map<String, Runnable> variants, int runs) {
        return inTurn(variants, runs, () -> {});
    }

    /** Times the variants like {@link #inTurn(Map, int)}; calls {@code onRun} after each run. */
    public static Map<String, Timing> inTurn(
            Map<String, Runnable> variants, int runs, Runnable onRun) {
        Map<String, double[]> seconds = new LinkedHashMap<>();
        variants.forEach(
                (name, variant) -> {
                    variant.run();
                    onRun.run();
                    seconds.put(name, new double[runs]);
                });
        for (int run = 0; run < runs; run++) {
            int current = run;
            variants.forEach(
                    (name, variant) -> {
                        long start = System.nanoTime();
                        variant.run();
                        seconds.get(name)[current] = (System.nanoTime() - start) / NANOS;
                        onRun.run();
                    });
        }
        ImmutableMap.Builder<String, Timing> timings = ImmutableMap.builder();
        seconds.forEach((name, all) -> timings.put(name, summarize(all)));
        return timings.buildOrThrow();
    }

    /** Waits until the device of a manager has finished, by reading an array. */
    public static void synchronize(NDManager manager) {
        manager.zeros(new Shape(1)).toFloatArray();
    }

    /** Formats one line per variant. */
    public static String lines(Map<String, Timing> times) {
        StringBuilder lines = new StringBuilder();
        times.forEach(
                (name, time) ->
                        lines.append(
                                Text.format(
                                        "  %-13s  median %.3f s, minimum %.3f s%n",
                                        name, time.median, time.least)));
        return lines.toString();
    }

    /** Formats the ratio of portable to fused time; {@code -} unless both were timed. */
    public static String ratio(Map<String, Timing> times) {
        return times.containsKey(FUSED) && times.containsKey(PORTABLE)
                ? Text.format("%.2f x", times.get(PORTABLE).median / times.get(FUSED).median)
                : "-";
    }

    private static Timing summarize(double[] seconds) {
        double[] sorted = DoubleStream.of(seconds).sorted().toArray();
        double median = (sorted[sorted.length / 2] + sorted[(sorted.length - 1) / 2]) / 2;
        return new Timing(median, sorted[0]);
    }
}

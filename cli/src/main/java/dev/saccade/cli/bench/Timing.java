package dev.saccade.cli.bench;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.OperatorLibrary;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.DoubleStream;

/**
 * How long something takes.
 *
 * @param median of all runs, seconds
 * @param least of all runs, seconds
 */
public record Timing(double median, double least) {

    /** The name of what runs with fused operators. */
    public static final String FUSED = "fused";

    /** The name of what runs without. */
    public static final String PORTABLE = "portable";

    private static final double NANOS = 1e9;

    /** Times something with fused operators and without; without only, where there are none. */
    static Map<String, Timing> measure(Runnable thing, int runs) {
        return measure(thing, new Plan(runs, true));
    }

    /**
     * How something is timed.
     *
     * @param runs of each form
     * @param portably whether without fused operators, too, where there are some
     */
    public record Plan(int runs, boolean portably) {}

    /** Times something with fused operators, where there are some, and without. */
    static Map<String, Timing> measure(Runnable thing, Plan plan) {
        Map<String, Runnable> forms = new LinkedHashMap<>();
        if (Kernels.status().loaded()) {
            forms.put(FUSED, thing);
            if (!plan.portably) {
                return byTurns(forms, plan.runs);
            }
        }
        forms.put(
                PORTABLE,
                () ->
                        OperatorLibrary.portably(
                                () -> {
                                    thing.run();
                                    return true;
                                }));
        return byTurns(forms, plan.runs);
    }

    /**
     * Times things by turns, so that what disturbs one of them disturbs all; each is run once
     * before.
     */
    static Map<String, Timing> byTurns(Map<String, Runnable> things, int runs) {
        Map<String, double[]> seconds = new LinkedHashMap<>();
        things.forEach(
                (name, thing) -> {
                    thing.run();
                    seconds.put(name, new double[runs]);
                });
        for (int run = 0; run < runs; run++) {
            int current = run;
            things.forEach(
                    (name, thing) -> {
                        long start = System.nanoTime();
                        thing.run();
                        seconds.get(name)[current] = (System.nanoTime() - start) / NANOS;
                    });
        }
        ImmutableMap.Builder<String, Timing> timings = ImmutableMap.builder();
        seconds.forEach((name, all) -> timings.put(name, summarize(all)));
        return timings.buildOrThrow();
    }

    private static Timing summarize(double[] seconds) {
        double[] sorted = DoubleStream.of(seconds).sorted().toArray();
        double median = (sorted[sorted.length / 2] + sorted[(sorted.length - 1) / 2]) / 2;
        return new Timing(median, Arrays.stream(sorted).min().orElseThrow());
    }
}

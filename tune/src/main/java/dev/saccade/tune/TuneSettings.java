package dev.saccade.tune;

import java.util.List;
import java.util.Optional;

/**
 * Settings of a search.
 *
 * @param trials number of trials, including the base config; by default as many as the budget
 *     allows, from 9 to 81
 * @param folds number of folds of {@code data.train}; by default 3 below 500 images
 * @param search additional dimensions, such as {@code model.neck.out_channels=[64, 128]}
 * @param fix default dimensions to leave out
 * @param finalRuns whether to compare the best and the base config on {@code data.val} at the end
 * @param threads CPU threads of each job, which may change the rounding of results
 */
public record TuneSettings(
        TuneBudget budget,
        Optional<Integer> trials,
        Optional<Integer> folds,
        long seed,
        List<String> search,
        List<String> fix,
        boolean finalRuns,
        int threads) {

    /** Up to this number of cores, each job uses one thread. */
    private static final int FEW_CORES = 8;

    public TuneSettings {
        search = List.copyOf(search);
        fix = List.copyOf(fix);
    }

    public static TuneSettings of(TuneBudget budget) {
        return new TuneSettings(
                budget,
                Optional.empty(),
                Optional.empty(),
                0,
                List.of(),
                List.of(),
                true,
                defaultThreads());
    }

    /** Returns the default number of threads of a job: 1 on machines with up to 8 cores. */
    public static int defaultThreads() {
        int cores = Runtime.getRuntime().availableProcessors();
        return cores <= FEW_CORES ? 1 : cores / FEW_CORES;
    }
}

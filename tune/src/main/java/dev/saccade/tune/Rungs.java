package dev.saccade.tune;

import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;

import java.util.ArrayList;
import java.util.List;

/**
 * Number of trials and training time of each rung of successive halving (Jamieson and Talwalkar
 * 2016), with a third of the trials and three times the training time from rung to rung.
 *
 * @param sizes number of trials by rung, without the base config if it is not promoted
 * @param folds number of folds of the training images
 * @param allFolds whether the trials of the last rung are trained on all folds
 * @param finalRuns whether the best and the base config are trained on all images at the end
 */
record Rungs(List<Integer> sizes, int folds, boolean allFolds, boolean finalRuns) {

    static final int ETA = 3;

    /** Fraction of the steps in which the learning rate decays. */
    static final double DECAY = 0.2;

    /** Numbers of trials to choose from, including the base config. */
    private static final List<Integer> TRIALS = List.of(81, 27, 9);

    private static final int FINALISTS = 3;

    Rungs {
        sizes = List.copyOf(sizes);
    }

    /** Returns the rungs of a number of trials, down to three in the last rung. */
    static Rungs of(int trials, int folds, boolean allFolds, boolean finalRuns) {
        List<Integer> sizes = new ArrayList<>(List.of(trials));
        while (sizes.get(sizes.size() - 1) > FINALISTS) {
            sizes.add(Math.max(FINALISTS, sizes.get(sizes.size() - 1) / ETA));
        }
        return new Rungs(sizes, folds, allFolds, finalRuns);
    }

    /**
     * Returns the rungs with the largest number of trials whose first rung is long enough, and
     * whose last rung is at least as long as the base config; else with the smallest number.
     *
     * @param firstLength least length of the first rung
     */
    static Rungs choose(
            double budget,
            double baseLength,
            double firstLength,
            double cost,
            int parallel,
            int folds,
            boolean allFolds,
            boolean finalRuns) {
        for (int trials : TRIALS) {
            Rungs rungs = of(trials, folds, allFolds, finalRuns);
            double measuring = rounds(trials + 1, parallel) * cost;
            double length = rungs.length(budget - measuring, cost, parallel);
            if (length >= baseLength && length * rungs.fraction(0) >= firstLength) {
                return rungs;
            }
        }
        return of(TRIALS.get(TRIALS.size() - 1), folds, allFolds, finalRuns);
    }

    int count() {
        return sizes.size();
    }

    /** Returns the training time of a rung as a fraction of the last rung. */
    double fraction(int rung) {
        return Math.pow(ETA, rung - (count() - 1));
    }

    /**
     * Jobs that run at the same time.
     *
     * @param fraction training time of each as a fraction of the last rung
     */
    private record Stage(int jobs, double fraction) {}

    private List<Stage> stages() {
        List<Stage> stages = new ArrayList<>();
        for (int rung = 0; rung < count(); rung++) {
            // The base config is always promoted, and promoted trials continue before the decay.
            int extra = rung == 0 ? 0 : 1;
            double before = rung == 0 ? 0 : (1 - DECAY) * fraction(rung - 1);
            stages.add(new Stage(sizes.get(rung) + extra, fraction(rung) - before));
        }
        int finalists = sizes.get(count() - 1) + (count() == 1 ? 0 : 1);
        if (allFolds) {
            stages.add(new Stage(finalists * (folds - 1), 1));
        }
        if (finalRuns) {
            stages.add(new Stage(2, 1));
        }
        return stages;
    }

    private static int rounds(int jobs, int parallel) {
        return (jobs + parallel - 1) / parallel;
    }

    /**
     * Returns the training time of a trial up to the last rung.
     *
     * @param cost time of each job besides training, such as its evaluation
     */
    double length(double budget, double cost, int parallel) {
        double fixed = 0;
        double training = 0;
        for (Stage stage : stages()) {
            fixed += rounds(stage.jobs, parallel) * cost;
            training += rounds(stage.jobs, parallel) * stage.fraction;
        }
        return (budget - fixed) / training;
    }

    /** Returns the time of all jobs; the inverse of {@link #length}. */
    double total(double length, double cost, int parallel) {
        double total = 0;
        for (Stage stage : stages()) {
            total += rounds(stage.jobs, parallel) * (cost + stage.fraction * length);
        }
        return total;
    }

    /** Returns the numbers of steps of each rung for a trial. */
    List<Long> steps(double length, double perStep) {
        List<Long> steps = new ArrayList<>();
        for (int rung = 0; rung < count(); rung++) {
            steps.add((long) Math.floor(length * fraction(rung) / perStep));
        }
        return steps;
    }

    /** Returns a sentence about the search. */
    String describe() {
        return Text.format(
                "%s in %s (%s)",
                Count.of(sizes.get(0), "trial"),
                Count.of(count(), "rung"),
                String.join(" > ", sizes.stream().map(String::valueOf).toList()));
    }

    /** Rejects a budget that does not suffice for some steps of the base config. */
    SaccadeException tooSmall(TuneBudget budget, double required) {
        return SaccadeException.user(
                        "budget: got %s, expected at least about %s for %d trials on %d folds;"
                                + " set a larger budget, or search fewer trials, folds or settings",
                        budget.describe(budget.amount()),
                        budget.describe(required),
                        sizes.get(0),
                        folds)
                .withSettings("budget", "trials", "folds", "fix");
    }
}

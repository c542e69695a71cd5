package dev.saccade.tune;

import dev.saccade.core.Text;

/** Names of jobs and runs. */
final class TrialNames {

    private TrialNames() {}

    static String of(String prefix, int trial) {
        return prefix + Text.format("%03d", trial);
    }

    /** Returns the run of a trial on the first fold, which all rungs continue. */
    static String run(int trial) {
        return of("trial_", trial);
    }

    /** Returns the job of a rung; numbers in names start from 1. */
    static String rung(int trial, int rung) {
        return run(trial) + "_rung_" + (rung + 1);
    }

    static String fold(int trial, int fold) {
        return run(trial) + "_fold_" + (fold + 1);
    }
}

package dev.saccade.core.structures;

/** Iterates over the runs of two masks in segments in which neither mask changes. */
final class RunOverlay {

    private final int[] first;
    private final int[] second;
    private int firstRun;
    private int secondRun;
    private int firstLeft;
    private int secondLeft;
    private int length;

    RunOverlay(int[] first, int[] second) {
        this.first = first;
        this.second = second;
        this.firstLeft = first[0];
        this.secondLeft = second[0];
    }

    /** Advances to the next segment; returns false at the end of the masks. */
    boolean next() {
        firstLeft -= length;
        secondLeft -= length;
        if (firstLeft == 0 && firstRun + 1 < first.length) {
            firstLeft = first[++firstRun];
        }
        if (secondLeft == 0 && secondRun + 1 < second.length) {
            secondLeft = second[++secondRun];
        }
        length = Math.min(firstLeft, secondLeft);
        return length > 0;
    }

    int length() {
        return length;
    }

    boolean inFirst() {
        return firstRun % 2 == 1;
    }

    boolean inSecond() {
        return secondRun % 2 == 1;
    }

    /** Returns the number of foreground pixels common to both masks. */
    static long shared(int[] first, int[] second) {
        long shared = 0;
        int i = 0;
        int j = 0;
        int start = 0;
        int firstEnd = first[0];
        int secondEnd = second[0];
        while (true) {
            int end = Math.min(firstEnd, secondEnd);
            if ((i & j & 1) == 1) {
                shared += end - start;
            }
            start = end;
            if (firstEnd == end) {
                if (++i == first.length) {
                    return shared;
                }
                firstEnd += first[i];
            }
            if (secondEnd == end) {
                if (++j == second.length) {
                    return shared;
                }
                secondEnd += second[j];
            }
        }
    }
}

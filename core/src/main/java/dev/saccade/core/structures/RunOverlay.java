package dev.saccade.core.structures;

/** Walks the runs of two masks together, in stretches within which neither changes. */
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

    /** Goes to the next stretch; returns false at the end of the masks. */
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

    /** Returns the number of pixels of the stretch. */
    int length() {
        return length;
    }

    boolean inFirst() {
        return firstRun % 2 == 1;
    }

    boolean inSecond() {
        return secondRun % 2 == 1;
    }
}

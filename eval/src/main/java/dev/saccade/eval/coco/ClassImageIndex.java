package dev.saccade.eval.coco;

import java.util.Arrays;
import java.util.function.IntToDoubleFunction;

/**
 * Detections or objects sorted by cell, such as the pair of a class and an image. A slot is a
 * position in this order.
 */
final class ClassImageIndex {

    /** Index of the detection or object in each slot. */
    private final int[] entries;

    /** Cell of each slot, in ascending order. */
    private final int[] cells;

    /** Sorts entries by cell; entries of a cell keep their order. */
    ClassImageIndex(int[] entries, int[] cellOf) {
        StableSort.descending(entries, 0, entries.length, entry -> -cellOf[entry]);
        this.entries = entries;
        this.cells = new int[entries.length];
        for (int slot = 0; slot < cells.length; slot++) {
            cells[slot] = cellOf[entries[slot]];
        }
    }

    int entry(int slot) {
        return entries[slot];
    }

    int cell(int slot) {
        return cells[slot];
    }

    /** Returns whether a slot is the first of its cell. */
    boolean starts(int slot) {
        return slot == 0 || cells[slot] != cells[slot - 1];
    }

    int[] entries(int cell) {
        return Arrays.copyOfRange(entries, first(cell), first(cell + 1));
    }

    /** Returns the first slot of a cell; for an empty cell, of the next cell with entries. */
    int first(int cell) {
        int low = 0;
        int high = cells.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (cells[middle] < cell) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Sorts the entries in slots {@code from} to {@code to}, exclusive, by descending score. */
    void sort(int from, int to, IntToDoubleFunction score) {
        StableSort.descending(entries, from, to, score);
    }
}

package dev.saccade.eval.coco;

import java.util.Arrays;
import java.util.function.IntToDoubleFunction;

/**
 * Detections or objects, grouped by class and image. A cell holds those of one class in one image;
 * cells come in the order of their classes, then of the ids of their images.
 *
 * <p>The place of an entry in this order is its slot.
 */
final class ClassImageIndex {

    /** Which detection or object lies in a slot. */
    private final int[] entries;

    /** The cell of each slot: class times number of images plus rank of the image. */
    private final int[] cells;

    /**
     * Groups entries; within a cell they keep their order.
     *
     * @param entries all entries; sorted in place
     * @param cellOf the cell of each entry
     */
    ClassImageIndex(int[] entries, int[] cellOf) {
        StableSort.descending(entries, 0, entries.length, entry -> -cellOf[entry]);
        this.entries = entries;
        this.cells = new int[entries.length];
        for (int slot = 0; slot < cells.length; slot++) {
            cells[slot] = cellOf[entries[slot]];
        }
    }

    /** Returns the detection or object in a slot. */
    int entry(int slot) {
        return entries[slot];
    }

    /** Returns the cell of a slot. */
    int cell(int slot) {
        return cells[slot];
    }

    /** Returns whether a cell begins in a slot. */
    boolean starts(int slot) {
        return slot == 0 || cells[slot] != cells[slot - 1];
    }

    /** Returns the detections or objects of a cell. */
    int[] entries(int cell) {
        return Arrays.copyOfRange(entries, first(cell), first(cell + 1));
    }

    /** Returns the first slot of this or a later cell. */
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

    /** Sorts the slots of a cell by descending score; equal ones keep their order. */
    void sort(int from, int to, IntToDoubleFunction score) {
        StableSort.descending(entries, from, to, score);
    }
}

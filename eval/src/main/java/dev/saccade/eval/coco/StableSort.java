package dev.saccade.eval.coco;

import java.util.Arrays;
import java.util.function.IntToDoubleFunction;

/** Stable merge sort of indices; the JDK has no stable sort of primitives. */
public final class StableSort {

    private StableSort() {}

    /** Sorts a range of indices by descending key; equal keys keep their order. */
    public static void descending(int[] positions, int from, int to, IntToDoubleFunction key) {
        if (to - from > 1) {
            sort(Arrays.copyOfRange(positions, from, to), positions, from, key);
        }
    }

    private static void sort(int[] copy, int[] target, int from, IntToDoubleFunction key) {
        int length = copy.length;
        int[] source = copy;
        int[] merged = new int[length];
        for (int width = 1; width < length; width *= 2) {
            for (int start = 0; start < length; start += 2 * width) {
                int middle = Math.min(start + width, length);
                merge(source, start, middle, Math.min(middle + width, length), merged, key);
            }
            int[] swap = source;
            source = merged;
            merged = swap;
        }
        System.arraycopy(source, 0, target, from, length);
    }

    private static void merge(
            int[] source, int start, int middle, int end, int[] merged, IntToDoubleFunction key) {
        // Detections of one image or class are often sorted already.
        if (middle == end
                || key.applyAsDouble(source[middle - 1]) >= key.applyAsDouble(source[middle])) {
            System.arraycopy(source, start, merged, start, end - start);
            return;
        }
        int left = start;
        int right = middle;
        for (int i = start; i < end; i++) {
            boolean takeLeft =
                    right == end
                            || (left < middle
                                    && key.applyAsDouble(source[left])
                                            >= key.applyAsDouble(source[right]));
            merged[i] = source[takeLeft ? left++ : right++];
        }
    }
}

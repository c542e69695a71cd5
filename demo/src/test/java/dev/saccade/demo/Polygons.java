package dev.saccade.demo;

import com.google.common.primitives.ImmutableIntArray;

/** What tests ask of a polygon {@code x1, y1, x2, y2, ...}. */
final class Polygons {

    private Polygons() {}

    static long twiceArea(ImmutableIntArray polygon) {
        long sum = 0;
        for (int i = 0; i < polygon.length(); i += 2) {
            int next = (i + 2) % polygon.length();
            sum += (long) polygon.get(i) * polygon.get(next + 1);
            sum -= (long) polygon.get(next) * polygon.get(i + 1);
        }
        return sum;
    }
}

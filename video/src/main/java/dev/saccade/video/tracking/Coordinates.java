package dev.saccade.video.tracking;

import java.util.stream.DoubleStream;

/** Checks coordinates in pixels. */
final class Coordinates {

    /** Larger than any image; products of coordinates stay finite. */
    private static final double LIMIT = 1e9;

    private Coordinates() {}

    /** Returns whether all coordinates are finite and not absurdly large. */
    static boolean areValid(double... coordinates) {
        return DoubleStream.of(coordinates).allMatch(each -> Math.abs(each) <= LIMIT);
    }
}

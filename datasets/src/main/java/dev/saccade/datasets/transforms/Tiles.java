package dev.saccade.datasets.transforms;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Size;

import java.util.List;

/**
 * Overlapping tiles to predict images larger than the model input (Akyon et al. 2022, Slicing Aided
 * Hyper Inference).
 *
 * <p>Objects larger than the overlap may be cut by all tiles; detectors merge their parts, and
 * detect objects much larger than a tile in the whole image if {@code whole} is set.
 *
 * @param size width and height of a tile in pixels; limited to the image
 * @param overlap minimum overlap of neighboring tiles as a fraction of their size
 * @param whole whether detectors also predict the whole image; segmenters never do
 */
public record Tiles(List<Integer> size, double overlap, boolean whole) {

    public static final double OVERLAP = 0.2;

    private static final int MIN_EDGE = 16;
    private static final int MAX_EDGE = 1 << 14;
    private static final double MAX_OVERLAP = 0.9;
    private static final long MAX_TILES = 10_000;

    public Tiles {
        size = ImmutableList.copyOf(size);
        new Checks()
                .size("size", size, 2, 2)
                .each("size", size, MIN_EDGE, MAX_EDGE)
                .inRange("overlap", overlap, 0, MAX_OVERLAP)
                .throwIfAny();
    }

    /** Creates square tiles with an overlap of 0.2, without the whole image. */
    public static Tiles of(int edge) {
        return of(edge, edge);
    }

    /** Creates tiles with an overlap of 0.2, without the whole image. */
    public static Tiles of(int width, int height) {
        return new Tiles(List.of(width, height), OVERLAP, false);
    }

    public Tiles overlap(double fraction) {
        return new Tiles(size, fraction, whole);
    }

    /** Returns these tiles, with detectors also predicting the whole image if {@code enabled}. */
    public Tiles whole(boolean enabled) {
        return new Tiles(size, overlap, enabled);
    }

    /** A part of an image: first column and row, and size. */
    public record Tile(int left, int top, Size size) {

        public static Tile all(Size image) {
            return new Tile(0, 0, image);
        }

        public int right() {
            return left + size.width();
        }

        public int bottom() {
            return top + size.height();
        }

        public boolean overlaps(Tile other) {
            return left < other.right()
                    && other.left < right()
                    && top < other.bottom()
                    && other.top < bottom();
        }
    }

    /** Returns the tiles of an image, row by row; throws if there are more than 10,000. */
    public List<Tile> of(Size image) {
        int width = Math.min(size.get(0), image.width());
        int height = Math.min(size.get(1), image.height());
        List<Integer> lefts = starts(image.width(), width);
        List<Integer> tops = starts(image.height(), height);
        long count = (long) lefts.size() * tops.size();
        if (count > MAX_TILES) {
            throw SaccadeException.user(
                    "tiles: got %d of %s for an image of %s, expected at most %d; use larger tiles"
                            + " or less overlap",
                    count, new Size(size.get(1), size.get(0)), image, MAX_TILES);
        }
        Size tile = new Size(height, width);
        return tops.stream()
                .flatMap(top -> lefts.stream().map(left -> new Tile(left, top, tile)))
                .collect(ImmutableList.toImmutableList());
    }

    /** Returns the starts of tiles along an edge; the last tile ends at the image border. */
    private List<Integer> starts(int edge, int length) {
        int step = length - (int) (overlap * length);
        ImmutableList.Builder<Integer> starts = ImmutableList.builder();
        int start = 0;
        for (; start + length < edge; start += step) {
            starts.add(start);
        }
        return starts.add(edge - length).build();
    }
}

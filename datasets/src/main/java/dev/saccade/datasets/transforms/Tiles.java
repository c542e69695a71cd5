package dev.saccade.datasets.transforms;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Size;

import java.util.List;

/**
 * Overlapping tiles in which a model looks at a photograph that is larger than its input, each as
 * if it were a photograph (Akyon et al. 2022, Slicing Aided Hyper Inference).
 *
 * <p>What is larger than the overlap may be cut in every tile that shows it; detectors join its
 * parts, and find what is much larger than a tile in the whole photograph, if they look at it.
 *
 * @param size width and height of a tile, in pixels of the photograph; an edge of the photograph
 *     that is shorter is taken whole
 * @param overlap the least share of its width and height that a tile has in common with the next
 * @param whole whether detectors look at the whole photograph, too; segmenters never do
 */
public record Tiles(List<Integer> size, double overlap, boolean whole) {

    /** The overlap where none is told. */
    public static final double OVERLAP = 0.2;

    private static final int MIN_EDGE = 16;
    private static final int LONGEST_EDGE = 1 << 14;
    private static final double MAX_OVERLAP = 0.9;
    private static final long MAX_TILES = 10_000;

    /** Checks the numbers. */
    public Tiles {
        size = ImmutableList.copyOf(size);
        new Checks()
                .size("size", size, 2, 2)
                .each("size", size, MIN_EDGE, LONGEST_EDGE)
                .inRange("overlap", overlap, 0, MAX_OVERLAP)
                .throwIfAny();
    }

    /** Returns square tiles that overlap by a fifth, without a look at the whole photograph. */
    public static Tiles of(int edge) {
        return of(edge, edge);
    }

    /** Returns tiles that overlap by a fifth, without a look at the whole photograph. */
    public static Tiles of(int width, int height) {
        return new Tiles(List.of(width, height), OVERLAP, false);
    }

    /** Returns tiles that overlap by another share. */
    public Tiles overlap(double share) {
        return new Tiles(size, share, whole);
    }

    /** Returns the same tiles with or without a look at the whole photograph. */
    public Tiles whole(boolean wanted) {
        return new Tiles(size, overlap, wanted);
    }

    /**
     * A part of a photograph.
     *
     * @param left its first column
     * @param top its first row
     * @param size its height and width
     */
    public record Tile(int left, int top, Size size) {

        /** Returns the part that is all of a photograph. */
        public static Tile all(Size image) {
            return new Tile(0, 0, image);
        }

        /** Returns the column behind the last one. */
        public int right() {
            return left + size.width();
        }

        /** Returns the row below the last one. */
        public int bottom() {
            return top + size.height();
        }

        /** Returns whether there are pixels that both have. */
        public boolean overlaps(Tile other) {
            return left < other.right()
                    && other.left < right()
                    && top < other.bottom()
                    && other.top < bottom();
        }
    }

    /**
     * Returns the tiles of a photograph, row by row; one if it is no larger than a tile.
     *
     * @throws SaccadeException of kind user, if there are more than 10,000
     */
    public List<Tile> of(Size image) {
        int width = Math.min(size.get(0), image.width());
        int height = Math.min(size.get(1), image.height());
        List<Integer> lefts = starts(image.width(), width);
        List<Integer> tops = starts(image.height(), height);
        long count = (long) lefts.size() * tops.size();
        if (count > MAX_TILES) {
            throw SaccadeException.user(
                    "tiles: got %d of %s over a photograph of %s, expected at most %d; larger tiles"
                            + " or less overlap make fewer",
                    count, new Size(size.get(1), size.get(0)), image, MAX_TILES);
        }
        Size tile = new Size(height, width);
        return tops.stream()
                .flatMap(top -> lefts.stream().map(left -> new Tile(left, top, tile)))
                .collect(ImmutableList.toImmutableList());
    }

    /** The last tile ends with the photograph, so it may overlap its predecessor by more. */
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

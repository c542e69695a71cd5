package dev.saccade.models.segmentation;

import dev.saccade.core.structures.Size;

/** A rectangle of a map; bottom and right are exclusive. */
public record Tile(int top, int bottom, int left, int right) {

    public static Tile of(Size size) {
        return new Tile(0, size.height(), 0, size.width());
    }

    /** Returns the position of this tile after flipping a map of this width. */
    Tile flipHorizontally(int width) {
        return new Tile(top, bottom, width - right, width - left);
    }

    /** Returns the position of this tile after flipping a map of this height. */
    Tile flipVertically(int height) {
        return new Tile(height - bottom, height - top, left, right);
    }

    boolean overlaps(Tile other) {
        return top < other.bottom && other.top < bottom && left < other.right && other.left < right;
    }

    Tile intersection(Tile other) {
        return new Tile(
                Math.max(top, other.top),
                Math.min(bottom, other.bottom),
                Math.max(left, other.left),
                Math.min(right, other.right));
    }

    /** Returns this tile with positions relative to the given row and column. */
    Tile from(int row, int column) {
        return new Tile(top - row, bottom - row, left - column, right - column);
    }

    /** Returns the NDArray index of this tile in {@code [H, W, ...]}. */
    String index() {
        return top + ":" + bottom + ", " + left + ":" + right;
    }

    Size size() {
        return new Size(bottom - top, right - left);
    }
}

package dev.saccade.models.segmentation;

import dev.saccade.core.structures.Size;

/**
 * A rectangle of a map.
 *
 * @param top the first row
 * @param bottom the row behind the last one
 * @param left the first column
 * @param right the column behind the last one
 */
public record Tile(int top, int bottom, int left, int right) {

    /** Returns all of a map. */
    public static Tile of(Size size) {
        return new Tile(0, size.height(), 0, size.width());
    }

    /** Returns the place of this tile on a map flipped horizontally. */
    Tile flipHorizontally(int width) {
        return new Tile(top, bottom, width - right, width - left);
    }

    /** Returns the place of this tile on a map flipped vertically. */
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

    /** Returns this tile, counted from a corner further down and to the right. */
    Tile from(int row, int column) {
        return new Tile(top - row, bottom - row, left - column, right - column);
    }

    /** Returns the index of this tile in an array {@code [H, W, ...]}. */
    String index() {
        return top + ":" + bottom + ", " + left + ":" + right;
    }

    /** Returns height and width. */
    Size size() {
        return new Size(bottom - top, right - left);
    }
}

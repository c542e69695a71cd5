package dev.saccade.core.structures;

import static com.google.common.base.Preconditions.checkArgument;

import java.util.Arrays;
import java.util.List;

/**
 * An immutable list of axis-aligned boxes {@code (x1, y1, x2, y2)} in continuous pixel coordinates:
 * a box of one pixel is {@code (0, 0, 1, 1)}, its width is {@code x2 - x1}.
 *
 * <p>Float32 throughout, as in the original detectors. A list may be empty; a box may have no area.
 */
public final class Boxes {

    private static final Boxes EMPTY = new Boxes(new float[0]);

    private final float[] xyxy;

    private Boxes(float[] xyxy) {
        this.xyxy = xyxy;
    }

    /** Returns the list without boxes. */
    public static Boxes empty() {
        return EMPTY;
    }

    /**
     * Returns boxes from their corners.
     *
     * @param xyxy {@code x1, y1, x2, y2} of each box; copied
     * @throws IllegalArgumentException if the length is no multiple of 4
     */
    public static Boxes of(float... xyxy) {
        checkArgument(
                xyxy.length % 4 == 0,
                "boxes: got %s values, expected a multiple of 4",
                xyxy.length);
        return xyxy.length == 0 ? EMPTY : new Boxes(xyxy.clone());
    }

    /** Returns the boxes of all lists, one list after the other. */
    public static Boxes concat(List<Boxes> lists) {
        float[] all = new float[lists.stream().mapToInt(boxes -> boxes.xyxy.length).sum()];
        int at = 0;
        for (Boxes boxes : lists) {
            System.arraycopy(boxes.xyxy, 0, all, at, boxes.xyxy.length);
            at += boxes.xyxy.length;
        }
        return new Boxes(all);
    }

    /** Returns the number of boxes. */
    public int size() {
        return xyxy.length / 4;
    }

    /** Returns whether there are no boxes. */
    public boolean isEmpty() {
        return xyxy.length == 0;
    }

    /** Returns the left edge of box {@code i}. */
    public float x1(int i) {
        return xyxy[4 * i];
    }

    /** Returns the top edge of box {@code i}. */
    public float y1(int i) {
        return xyxy[4 * i + 1];
    }

    /** Returns the right edge of box {@code i}. */
    public float x2(int i) {
        return xyxy[4 * i + 2];
    }

    /** Returns the bottom edge of box {@code i}. */
    public float y2(int i) {
        return xyxy[4 * i + 3];
    }

    /** Returns the width of box {@code i}; negative if its corners are swapped. */
    public float width(int i) {
        return x2(i) - x1(i);
    }

    /** Returns the height of box {@code i}; negative if its corners are swapped. */
    public float height(int i) {
        return y2(i) - y1(i);
    }

    /** Returns width times height of box {@code i}. */
    public float area(int i) {
        return width(i) * height(i);
    }

    /** Returns the IoU of two boxes; 0 if they do not overlap. */
    public float iou(int i, int j) {
        float width = Math.min(x2(i), x2(j)) - Math.max(x1(i), x1(j));
        float height = Math.min(y2(i), y2(j)) - Math.max(y1(i), y1(j));
        if (width <= 0 || height <= 0) {
            return 0;
        }
        return width * height / (area(i) + area(j) - width * height);
    }

    /** Returns the boxes at the given positions, in their order. */
    public Boxes select(int... positions) {
        float[] selected = new float[4 * positions.length];
        for (int k = 0; k < positions.length; k++) {
            System.arraycopy(xyxy, 4 * positions[k], selected, 4 * k, 4);
        }
        return new Boxes(selected);
    }

    /** Returns the boxes with x multiplied by {@code sx} and y by {@code sy}. */
    public Boxes scale(float sx, float sy) {
        return map(i -> xyxy[i] * (i % 2 == 0 ? sx : sy));
    }

    /** Returns the boxes divided by a scale, undoing {@link #scale} as the originals do. */
    public Boxes unscale(float sx, float sy) {
        return map(i -> xyxy[i] / (i % 2 == 0 ? sx : sy));
    }

    /** Returns the boxes moved by {@code dx} and {@code dy}. */
    public Boxes translate(float dx, float dy) {
        return map(i -> xyxy[i] + (i % 2 == 0 ? dx : dy));
    }

    /** Returns the boxes with every corner moved into {@code [0, width] x [0, height]}. */
    public Boxes clip(Size size) {
        return map(i -> Math.min(Math.max(xyxy[i], 0), i % 2 == 0 ? size.width() : size.height()));
    }

    /** Returns the boxes flipped horizontally in an image of the given width. */
    public Boxes flipHorizontal(int width) {
        return map(i -> i % 2 == 0 ? width - xyxy[i ^ 2] : xyxy[i]);
    }

    /** Returns the boxes flipped vertically in an image of the given height. */
    public Boxes flipVertical(int height) {
        return map(i -> i % 2 == 1 ? height - xyxy[i ^ 2] : xyxy[i]);
    }

    private interface Corner {
        float get(int i);
    }

    private Boxes map(Corner corner) {
        float[] mapped = new float[xyxy.length];
        for (int i = 0; i < mapped.length; i++) {
            mapped[i] = corner.get(i);
        }
        return new Boxes(mapped);
    }

    /** Returns a copy of the corners, {@code 4 * size()} numbers. */
    public float[] toArray() {
        return xyxy.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Boxes boxes && Arrays.equals(xyxy, boxes.xyxy);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(xyxy);
    }

    @Override
    public String toString() {
        return "Boxes" + Arrays.toString(xyxy);
    }
}

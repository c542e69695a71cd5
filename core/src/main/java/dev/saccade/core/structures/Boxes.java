package dev.saccade.core.structures;

import static com.google.common.base.Preconditions.checkArgument;

import java.util.Arrays;
import java.util.List;

/**
 * Immutable axis-aligned boxes {@code (x1, y1, x2, y2)}, float32, in continuous coordinates: a box
 * of one pixel is {@code (0, 0, 1, 1)}.
 */
public final class Boxes {

    private static final Boxes EMPTY = new Boxes(new float[0]);

    private final float[] xyxy;

    private Boxes(float[] xyxy) {
        this.xyxy = xyxy;
    }

    public static Boxes empty() {
        return EMPTY;
    }

    /** Copies {@code x1, y1, x2, y2} of each box. */
    public static Boxes of(float... xyxy) {
        checkArgument(
                xyxy.length % 4 == 0,
                "boxes: got %s values, expected a multiple of 4",
                xyxy.length);
        return xyxy.length == 0 ? EMPTY : new Boxes(xyxy.clone());
    }

    public static Boxes concat(List<Boxes> lists) {
        float[] all = new float[lists.stream().mapToInt(boxes -> boxes.xyxy.length).sum()];
        int at = 0;
        for (Boxes boxes : lists) {
            System.arraycopy(boxes.xyxy, 0, all, at, boxes.xyxy.length);
            at += boxes.xyxy.length;
        }
        return new Boxes(all);
    }

    public int size() {
        return xyxy.length / 4;
    }

    public boolean isEmpty() {
        return xyxy.length == 0;
    }

    public float x1(int i) {
        return xyxy[4 * i];
    }

    public float y1(int i) {
        return xyxy[4 * i + 1];
    }

    public float x2(int i) {
        return xyxy[4 * i + 2];
    }

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

    public Boxes select(int... positions) {
        float[] selected = new float[4 * positions.length];
        for (int k = 0; k < positions.length; k++) {
            System.arraycopy(xyxy, 4 * positions[k], selected, 4 * k, 4);
        }
        return new Boxes(selected);
    }

    /** Multiplies x by {@code sx} and y by {@code sy}. */
    public Boxes scale(float sx, float sy) {
        return map(i -> xyxy[i] * (i % 2 == 0 ? sx : sy));
    }

    /** Undoes {@link #scale}. Divides by the factors, which rounds as in mmdetection. */
    public Boxes unscale(float sx, float sy) {
        return map(i -> xyxy[i] / (i % 2 == 0 ? sx : sy));
    }

    public Boxes translate(float dx, float dy) {
        return map(i -> xyxy[i] + (i % 2 == 0 ? dx : dy));
    }

    /** Clips all corners to {@code [0, width] x [0, height]}. */
    public Boxes clip(Size size) {
        return map(i -> Math.min(Math.max(xyxy[i], 0), i % 2 == 0 ? size.width() : size.height()));
    }

    /** Flips the boxes horizontally in an image of the given width. */
    public Boxes flipHorizontal(int width) {
        return map(i -> i % 2 == 0 ? width - xyxy[i ^ 2] : xyxy[i]);
    }

    /** Flips the boxes vertically in an image of the given height. */
    public Boxes flipVertical(int height) {
        return map(i -> i % 2 == 1 ? height - xyxy[i ^ 2] : xyxy[i]);
    }

    /** Swaps x and y. */
    public Boxes transpose() {
        return map(i -> xyxy[i ^ 1]);
    }

    /** Returns the upright boxes around the boxes mapped by an affine map. */
    public Boxes warp(Affine map) {
        float[] mapped = new float[xyxy.length];
        for (int i = 0; i < size(); i++) {
            double[] bounds = map.bounds(x1(i), y1(i), x2(i), y2(i));
            for (int k = 0; k < 4; k++) {
                mapped[4 * i + k] = (float) bounds[k];
            }
        }
        return new Boxes(mapped);
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

    /** Returns a copy of the corners, {@code [4 * size()]}. */
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

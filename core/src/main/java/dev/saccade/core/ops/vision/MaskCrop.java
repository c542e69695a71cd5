package dev.saccade.core.ops.vision;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.DynamicShapes;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Rle;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Crops and resizes masks: RoIAlign of the bitmap, then a threshold of 0.5, bit for bit like
 * mmdetection's {@code BitmapMasks.crop_and_resize}, or without threshold like torchvision's {@code
 * project_masks_on_boxes}.
 *
 * <p>On a GPU, masks of mmdetection's style are decoded to bitmaps once. On the host, only the part
 * under a box is decoded, and bins with equal pixels are not interpolated.
 */
public final class MaskCrop {

    private final MaskStyle style;
    private final List<Rle> masks;
    private final Optional<MaskBitmaps> bitmaps;

    MaskCrop(MaskStyle style, List<Rle> masks, Optional<MaskBitmaps> bitmaps) {
        this.style = style;
        this.masks = masks;
        this.bitmaps = bitmaps;
    }

    /** Prepares masks, which may differ in size, for cropping on the device of an array. */
    public static MaskCrop of(MaskStyle style, NDArray array, List<Rle> masks) {
        boolean useBitmaps =
                style == MaskStyle.MMDETECTION
                        && !DynamicShapes.areAllowedFor(array)
                        && Kernels.isFusedFor(array);
        return new MaskCrop(
                style,
                masks,
                useBitmaps
                        ? Optional.of(MaskBitmaps.draw(array.getManager(), masks))
                        : Optional.empty());
    }

    /**
     * Crops masks to boxes.
     *
     * @param objects {@code [R]} int64 index of each box's mask; 0 if there are no masks, and the
     *     result is then undefined
     * @param boxes {@code [R, 4]} in mask pixels; clipped to the mask, after which boxes without
     *     area give zeros
     * @param side height and width of the result
     * @return {@code [R, side, side]} float32: 1 for foreground and 0 for background; values
     *     between with torchvision's style
     */
    public NDArray crop(NDArray objects, NDArray boxes, int side) {
        return bitmaps.isPresent()
                ? bitmaps.get().crop(objects, boxes, side)
                : onHost(objects, boxes, side);
    }

    private NDArray onHost(NDArray objects, NDArray boxes, int side) {
        long[] positions = Tensors.readLongs(objects);
        float[] cropped = new float[positions.length * side * side];
        if (!masks.isEmpty()) {
            Boxes corners = Boxes.of(Tensors.readFloats(boxes));
            for (int i = 0; i < positions.length; i++) {
                Rle mask = masks.get(Math.toIntExact(positions[i]));
                crop(mask, corners.select(i).clip(mask.size()), side, cropped, i * side * side);
            }
        }
        return Tensors.of(boxes.getManager(), cropped, new Shape(positions.length, side, side));
    }

    private void crop(Rle mask, Boxes box, int side, float[] cropped, int start) {
        BilinearSamples x = axis(box.x1(0), box.x2(0), side, mask.size().width());
        BilinearSamples y = axis(box.y1(0), box.y2(0), side, mask.size().height());
        if (x.perBin() > 0 && y.perBin() > 0) {
            boolean isSoft = style == MaskStyle.TORCHVISION;
            new Window(mask, x, y).fill(cropped, start, side, isSoft);
        }
    }

    private BilinearSamples axis(float from, float to, int side, int cells) {
        if (style == MaskStyle.TORCHVISION) {
            return BilinearSamples.layOut(from, Math.max(to - from, 1), side, 0, cells);
        }
        float start = from - 0.5f;
        return BilinearSamples.layOut(start, to - 0.5f - start, side, 0, cells);
    }

    /** The pixels sampled for a box. */
    private static final class Window {

        private final BilinearSamples x;
        private final BilinearSamples y;
        private final int left;
        private final int top;
        private final int height;
        private final byte[] columns;

        Window(Rle mask, BilinearSamples x, BilinearSamples y) {
            this.x = x;
            this.y = y;
            left = x.low()[0];
            top = y.low()[0];
            height = y.high()[y.high().length - 1] - top + 1;
            columns = new byte[(x.high()[x.high().length - 1] - left + 1) * height];
            int width = columns.length / height;
            mask.forEachColumnRun(
                    (column, fromRow, toRow) -> {
                        if (column >= left && column < left + width) {
                            draw(column - left, fromRow, toRow);
                        }
                    });
        }

        private void draw(int column, int fromRow, int toRow) {
            int from = Math.max(fromRow - top, 0);
            int to = Math.min(toRow - top, height);
            if (from < to) {
                Arrays.fill(columns, column * height + from, column * height + to, (byte) 1);
            }
        }

        void fill(float[] cropped, int start, int side, boolean isSoft) {
            for (int row = 0; row < side; row++) {
                for (int column = 0; column < side; column++) {
                    float mean = meanOfBin(row, column);
                    cropped[start + row * side + column] = isSoft ? mean : mean >= 0.5f ? 1 : 0;
                }
            }
        }

        /** Returns the mean over a bin; interpolates only if its pixels differ. */
        private float meanOfBin(int row, int column) {
            int x0 = column * x.perBin();
            int y0 = row * y.perBin();
            int firstColumn = x.low()[x0] - left;
            int lastColumn = x.high()[x0 + x.perBin() - 1] - left;
            int firstRow = y.low()[y0] - top;
            int lastRow = y.high()[y0 + y.perBin() - 1] - top;
            byte any = columns[firstColumn * height + firstRow];
            for (int c = firstColumn; c <= lastColumn; c++) {
                for (int i = c * height + firstRow; i <= c * height + lastRow; i++) {
                    if (columns[i] != any) {
                        return mean(x0, y0);
                    }
                }
            }
            return any;
        }

        /** Returns the mean over the points of a bin, summed in the order of the original. */
        private float mean(int x0, int y0) {
            float sum = 0;
            for (int i = y0; i < y0 + y.perBin(); i++) {
                int low = y.low()[i] - top;
                int high = y.high()[i] - top;
                float near = y.near()[i];
                float far = y.far()[i];
                for (int j = x0; j < x0 + x.perBin(); j++) {
                    int first = (x.low()[j] - left) * height;
                    int second = (x.high()[j] - left) * height;
                    sum +=
                            near * x.near()[j] * columns[first + low]
                                    + near * x.far()[j] * columns[second + low]
                                    + far * x.near()[j] * columns[first + high]
                                    + far * x.far()[j] * columns[second + high];
                }
            }
            return sum / (x.perBin() * y.perBin());
        }
    }
}

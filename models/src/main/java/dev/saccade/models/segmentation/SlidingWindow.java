package dev.saccade.models.segmentation;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Default;
import dev.saccade.core.structures.Size;

import java.util.List;

/**
 * Sliding windows for inference, as in mmsegmentation's test mode {@code slide}; sizes are [height,
 * width].
 */
public record SlidingWindow(
        @Default("[512, 512]") List<Integer> cropSize,
        @Default("[341, 341]") List<Integer> stride) {

    private static final long MAX_WINDOWS = 10_000;

    public SlidingWindow {
        cropSize = ImmutableList.copyOf(cropSize);
        stride = ImmutableList.copyOf(stride);
        new Checks()
                .size("crop_size", cropSize, 2, 2)
                .each("crop_size", cropSize, 1, 1 << 15)
                .size("stride", stride, 2, 2)
                .each("stride", stride, 1, 1 << 15)
                .throwIfAny();
        Checks.require(
                stride.get(0) <= cropSize.get(0) && stride.get(1) <= cropSize.get(1),
                "stride",
                stride,
                "at most the crop_size %s",
                cropSize);
    }

    /** Returns the windows row by row; the last row and column end at the image border. */
    List<Tile> tiles(Size image) {
        int rows = count(image.height(), cropSize.get(0), stride.get(0));
        int columns = count(image.width(), cropSize.get(1), stride.get(1));
        if ((long) rows * columns > MAX_WINDOWS) {
            throw SaccadeException.user(
                    "model.sliding_window: got %d windows for an image of %s, expected at most"
                            + " %d; use a larger crop_size and stride, or a smaller image",
                    (long) rows * columns, image, MAX_WINDOWS);
        }
        ImmutableList.Builder<Tile> tiles = ImmutableList.builder();
        for (int i = 0; i < rows * columns; i++) {
            int bottom = Math.min(i / columns * stride.get(0) + cropSize.get(0), image.height());
            int right = Math.min(i % columns * stride.get(1) + cropSize.get(1), image.width());
            int top = Math.max(bottom - cropSize.get(0), 0);
            tiles.add(new Tile(top, bottom, Math.max(right - cropSize.get(1), 0), right));
        }
        return tiles.build();
    }

    private static int count(int edge, int crop, int stride) {
        return Math.max(edge - crop + stride - 1, 0) / stride + 1;
    }
}

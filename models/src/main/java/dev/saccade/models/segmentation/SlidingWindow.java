package dev.saccade.models.segmentation;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.parts.Default;
import dev.saccade.core.structures.Size;

import java.util.List;

/**
 * Windows in which the network sees an image part by part, mmsegmentation's test mode {@code
 * slide}.
 *
 * @param cropSize height and width of a window; an image edge that is shorter is taken whole
 * @param stride rows and columns from one window to the next
 */
public record SlidingWindow(
        @Default("[512, 512]") List<Integer> cropSize,
        @Default("[341, 341]") List<Integer> stride) {

    /** Checks the numbers. */
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
                "numbers up to the crop_size %s",
                cropSize);
    }

    /**
     * A part of an axis.
     *
     * @param start its first cell
     * @param end the cell behind its last one
     */
    record Span(int start, int end) {

        boolean overlaps(int from, int to) {
            return start < to && from < end;
        }
    }

    /** Returns the rows of each row of windows. */
    List<Span> rows(Size image) {
        return spans(image.height(), cropSize.get(0), stride.get(0));
    }

    /** Returns the columns of each column of windows. */
    List<Span> columns(Size image) {
        return spans(image.width(), cropSize.get(1), stride.get(1));
    }

    /** The last window ends with the image, so it may overlap its predecessor by more. */
    private static List<Span> spans(int edge, int crop, int stride) {
        int count = Math.max(edge - crop + stride - 1, 0) / stride + 1;
        ImmutableList.Builder<Span> spans = ImmutableList.builder();
        for (int i = 0; i < count; i++) {
            int end = Math.min(i * stride + crop, edge);
            spans.add(new Span(Math.max(end - crop, 0), end));
        }
        return spans.build();
    }
}

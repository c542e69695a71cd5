package dev.saccade.core.ops.vision;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.primitives.ImmutableLongArray;

import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import java.util.List;
import java.util.stream.LongStream;

/**
 * Masks as bitmaps on a device. Only the start and end positions of runs are transferred; the
 * device decodes them to bitmaps.
 *
 * @param bitmaps {@code [G, H, W]} uint8: 0 or 1; mask g is at the top left of bitmap g
 * @param sizes {@code [G, 2]} int64: height and width of each mask
 */
record MaskBitmaps(NDArray bitmaps, NDArray sizes) {

    /** Placeholder for images without objects. */
    private static final Rle NONE = Rle.fromCounts(new Size(1, 1), 1);

    private static final Script DECODE =
            Script.compile(
                    "(canvas: Tensor, starts: Tensor, ends: Tensor) -> Tensor",
                    """
                    edges = torch.index_fill(torch.reshape(canvas, [-1]), 0, starts, 1)
                    minus = torch.neg(torch.ones_like(ends, dtype=1))
                    inside = torch.cumsum(torch.index_add(edges, 0, ends, minus), 0, dtype=1)
                    columns = torch.to(torch.reshape(inside, torch.size(canvas)), 0)
                    return torch.contiguous(torch.permute(columns, [0, 2, 1]))
                    """);

    static MaskBitmaps draw(NDManager manager, List<Rle> masks) {
        List<Rle> nonEmpty = masks.isEmpty() ? List.of(NONE) : masks;
        return new MaskBitmaps(bitmaps(manager, nonEmpty), sizes(manager, nonEmpty));
    }

    private static NDArray bitmaps(NDManager manager, List<Rle> masks) {
        long height = masks.stream().mapToInt(mask -> mask.size().height()).max().orElseThrow();
        long width = masks.stream().mapToInt(mask -> mask.size().width()).max().orElseThrow();
        long pixels = masks.size() * width * height;
        ImmutableLongArray.Builder starts = ImmutableLongArray.builder();
        ImmutableLongArray.Builder ends = ImmutableLongArray.builder();
        for (int g = 0; g < masks.size(); g++) {
            long first = g * width;
            masks.get(g)
                    .forEachColumnRun(
                            (x, top, bottom) -> {
                                starts.add((first + x) * height + top);
                                long end = (first + x) * height + bottom;
                                if (end < pixels) {
                                    ends.add(end);
                                }
                            });
        }
        return DECODE.run(
                manager.zeros(new Shape(masks.size(), width, height), DataType.INT8),
                positions(manager, starts),
                positions(manager, ends));
    }

    private static NDArray sizes(NDManager manager, List<Rle> masks) {
        long[] sizes =
                masks.stream()
                        .flatMapToLong(m -> LongStream.of(m.size().height(), m.size().width()))
                        .toArray();
        return Tensors.of(manager, sizes, new Shape(masks.size(), 2));
    }

    private static NDArray positions(NDManager manager, ImmutableLongArray.Builder collected) {
        ImmutableLongArray positions = collected.build();
        return Tensors.of(manager, positions.toArray(), new Shape(positions.length()));
    }

    /** See {@link MaskCrop#crop}. */
    NDArray crop(NDArray objects, NDArray boxes, int side) {
        return Script.call("ops.saccade.mask_targets", bitmaps, sizes, boxes, objects, side);
    }
}

package dev.saccade.core.ops;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Deformable convolution (Dai et al. 2017), modulated where there is a mask (Zhu et al. 2019): the
 * taps of the kernel read the map where offsets move them to, interpolated between four cells.
 *
 * <p>Follows torchvision's {@code deform_conv2d}, and with it mmcv's operators. Cells beyond the
 * map are 0. A sample between cells has the derivatives of its square; one exactly on a cell those
 * of the square to the right and below, also on row or column -1, where mmcv has none. The fused
 * operator samples a few positions at a time and multiplies them while they lie in the cache, on a
 * GPU as many as fit into 128 MiB; it sums in the same order however many threads run.
 *
 * @param stride distance between the cells that the kernel is laid on, along rows and columns
 * @param padding zeros added on each side
 * @param dilation distance between the taps of the kernel before they are moved
 */
public record DeformConv2d(List<Integer> stride, List<Integer> padding, List<Integer> dilation) {

    private static final int MOST = 1 << 16;

    private static final String SIGNATURE =
            "(input: Tensor, offset: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor";

    /** The four cells of each sample are a bag; one that is not on the map has no share. */
    private static final ScriptTemplate PORTABLE =
            ScriptTemplate.of(
                    SIGNATURE,
                    """
                    n, c, h, w, = torch.size(input)
                    out, depth, kh, kw, = torch.size(weight)
                    _0, moves, rows, columns, = torch.size(offset)
                    parts = torch.floordiv(moves, 2 * kh * kw)
                    groups = torch.floordiv(c, depth)
                    kind = offset.dtype
                    on = offset.device
                    moved = torch.reshape(offset, [n, parts, kh, kw, 2, rows, columns])
                    down = torch.reshape(torch.arange(kh, dtype=kind, device=on), [kh, 1, 1, 1]) * {dilation_y}
                    down = down + torch.reshape(torch.arange(rows, dtype=kind, device=on), [rows, 1]) * {stride_y} - {padding_y}
                    across = torch.reshape(torch.arange(kw, dtype=kind, device=on), [kw, 1, 1]) * {dilation_x}
                    across = across + torch.arange(columns, dtype=kind, device=on) * {stride_x} - {padding_x}
                    y = torch.add(torch.select(moved, 4, 0), down)
                    x = torch.add(torch.select(moved, 4, 1), across)
                    top = torch.floor(y)
                    left = torch.floor(x)
                    below = torch.sub(y, top)
                    right = torch.sub(x, left)
                    y = torch.stack([top, torch.add(top, 1)], -1)
                    x = torch.stack([left, torch.add(left, 1)], -1)
                    y_is_in = torch.logical_and(torch.ge(y, 0), torch.lt(y, h))
                    x_is_in = torch.logical_and(torch.ge(x, 0), torch.lt(x, w))
                    none = torch.zeros_like(y)
                    of_rows = torch.where(y_is_in, torch.stack([torch.rsub(below, 1), below], -1), none)
                    of_columns = torch.where(x_is_in, torch.stack([torch.rsub(right, 1), right], -1), none)
                    shares = torch.mul(torch.unsqueeze(of_rows, -1), torch.unsqueeze(of_columns, -2))
                    shares = {modulated}
                    row = torch.to(torch.where(y_is_in, y, none), 4)
                    column = torch.to(torch.where(x_is_in, x, none), 4)
                    map = torch.reshape(torch.arange(n * parts, dtype=4, device=on), [n, parts, 1, 1, 1, 1, 1])
                    row = torch.add(torch.mul(map, h), row)
                    cells = torch.add(torch.unsqueeze(torch.mul(row, w), -1), torch.unsqueeze(column, -2))
                    table = torch.reshape(input, [n, parts, torch.floordiv(c, parts), h * w])
                    table = torch.reshape(torch.transpose(table, 2, 3), [n * parts * h * w, torch.floordiv(c, parts)])
                    bags = torch.mul(torch.arange(n * parts * kh * kw * rows * columns, dtype=4, device=on), 4)
                    sums = torch.embedding_bag(table, torch.flatten(cells), bags, False, 0, False, torch.flatten(shares), False)
                    sampled = torch.reshape(sums[0], [n, parts, kh * kw, rows * columns, torch.floordiv(c, parts)])
                    sampled = torch.reshape(torch.permute(sampled, [0, 1, 4, 2, 3]), [n, groups, depth * kh * kw, rows * columns])
                    factor = torch.reshape(weight, [groups, torch.floordiv(out, groups), depth * kh * kw])
                    result = torch.reshape(torch.matmul(factor, sampled), [n, out, rows, columns])
                    return {shifted}
                    """);

    /** Checks the values. */
    public DeformConv2d {
        stride = ImmutableList.copyOf(stride);
        padding = ImmutableList.copyOf(padding);
        dilation = ImmutableList.copyOf(dilation);
        new Checks()
                .size("stride", stride, 2, 2)
                .each("stride", stride, 1, MOST)
                .size("padding", padding, 2, 2)
                .each("padding", padding, 0, MOST)
                .size("dilation", dilation, 2, 2)
                .each("dilation", dilation, 1, MOST)
                .throwIfAny();
    }

    /** The same along rows and columns. */
    public DeformConv2d(int stride, int padding, int dilation) {
        this(List.of(stride, stride), List.of(padding, padding), List.of(dilation, dilation));
    }

    /**
     * Convolves. Groups of channels that are moved together ({@code G}), and groups of channels
     * that do not see each other, follow from the shapes.
     *
     * @param input {@code [N, C, H, W]}
     * @param offset {@code [N, 2 G kh kw, OH, OW]} in cells: for each group and tap, row by row,
     *     how far down and how far to the right
     * @param mask {@code [N, G kh kw, OH, OW]}, a factor of each sample; null for none
     * @param weight {@code [O, C / groups, kh, kw]}
     * @param bias {@code [O]}; null for none
     * @return {@code [N, O, OH, OW]} with {@code OH = (H + 2 p - d (kh - 1) - 1) / s + 1}
     * @throws SaccadeException of kind user, with every shape that does not fit the others
     */
    public NDArray run(NDArray input, NDArray offset, NDArray mask, NDArray weight, NDArray bias) {
        new Shapes(input, offset, mask, weight, bias).check();
        Shape kernel = weight.getShape();
        Shape moves = offset.getShape();
        Shape result = new Shape(moves.get(0), kernel.get(0), moves.get(2), moves.get(3));
        return MultiplyAdds.run(
                result.size() * kernel.slice(1).size(),
                input,
                result,
                () ->
                        Kernels.isFusedFor(input)
                                ? fused(input, offset, mask, weight, bias)
                                : portable(input, offset, mask, weight, bias));
    }

    NDArray fused(NDArray input, NDArray offset, NDArray mask, NDArray weight, NDArray bias) {
        return Script.call(
                "ops.saccade.deform_conv2d",
                input,
                offset,
                mask,
                weight,
                bias,
                stride,
                padding,
                dilation);
    }

    NDArray portable(NDArray input, NDArray offset, NDArray mask, NDArray weight, NDArray bias) {
        String factor = "torch.reshape(mask, [n, parts, kh, kw, rows, columns, 1, 1])";
        String modulated = mask == null ? "shares" : "torch.mul(shares, " + factor + ")";
        String shift = "torch.reshape(bias, [out, 1, 1])";
        Map<String, ?> constants =
                Map.of(
                        "stride_y", stride.get(0),
                        "stride_x", stride.get(1),
                        "padding_y", padding.get(0),
                        "padding_x", padding.get(1),
                        "dilation_y", dilation.get(0),
                        "dilation_x", dilation.get(1),
                        "modulated", modulated,
                        "shifted", bias == null ? "result" : "torch.add(result, " + shift + ")");
        // The script reads neither of the two where it is null here.
        return PORTABLE.with(constants)
                .run(
                        input,
                        offset,
                        Objects.requireNonNullElse(mask, offset),
                        weight,
                        Objects.requireNonNullElse(bias, weight));
    }

    /** Holds the shapes against one another. */
    private final class Shapes {

        private final Problems problems = new Problems();
        private final NDArray input;
        private final NDArray offset;
        private final NDArray mask;
        private final NDArray weight;
        private final NDArray bias;

        Shapes(NDArray input, NDArray offset, NDArray mask, NDArray weight, NDArray bias) {
            this.input = input;
            this.offset = offset;
            this.mask = mask;
            this.weight = weight;
            this.bias = bias;
        }

        void check() {
            wantAxes("input", input, 4);
            wantAxes("offset", offset, 4);
            wantAxes("mask", mask, 4);
            wantAxes("weight", weight, 4);
            wantAxes("bias", bias, 1);
            if (problems.isEmpty()) {
                checkChannels();
                checkMoves();
            }
            problems.throwIfAny("deform_conv2d");
        }

        private void wantAxes(String name, NDArray array, int axes) {
            if (array != null && array.getShape().dimension() != axes) {
                problems.add("%s: got %s, expected %d axes", name, array.getShape(), axes);
            }
        }

        private void checkChannels() {
            long channels = input.getShape().get(1);
            long out = weight.getShape().get(0);
            long depth = weight.getShape().get(1);
            if (!divides(depth, channels)) {
                problems.add(
                        "weight: got %s, expected an input depth that divides the %d channels",
                        weight.getShape(), channels);
            } else if (out % (channels / depth) != 0) {
                problems.add(
                        "weight: got %s, expected outputs for each of %d groups",
                        weight.getShape(), channels / depth);
            }
            if (bias != null && bias.size() != out) {
                problems.add("bias: got %s, expected (%d)", bias.getShape(), out);
            }
        }

        private void checkMoves() {
            Shape map = input.getShape();
            long taps = weight.getShape().slice(2).size();
            long moves = offset.getShape().get(1);
            long rows = positions(0);
            long columns = positions(1);
            if (rows < 1 || columns < 1) {
                problems.add("input: got %s, expected one as large as the kernel", map);
                return;
            }
            long parts = taps > 0 ? moves / (2 * taps) : 0;
            boolean whole = parts > 0 && moves == 2 * taps * parts;
            if (!whole || !divides(parts, map.get(1))) {
                problems.add(
                        "offset: got %s, expected %d channels for each of some groups, of which"
                                + " there are a divisor of the input's %d channels",
                        offset.getShape(), 2 * taps, map.get(1));
            }
            wantMap("offset", offset, moves, rows, columns);
            if (mask != null) {
                wantMap("mask", mask, moves / 2, rows, columns);
            }
        }

        private void wantMap(String name, NDArray array, long channels, long rows, long columns) {
            Shape wanted = new Shape(input.getShape().get(0), channels, rows, columns);
            if (!array.getShape().equals(wanted)) {
                problems.add("%s: got %s, expected %s", name, array.getShape(), wanted);
            }
        }

        private long positions(int axis) {
            long kernel = dilation.get(axis) * (weight.getShape().get(2 + axis) - 1) + 1;
            long free = input.getShape().get(2 + axis) + 2L * padding.get(axis) - kernel;
            return Math.floorDiv(free, (long) stride.get(axis)) + 1;
        }

        private boolean divides(long part, long all) {
            return part > 0 && all % part == 0;
        }
    }
}

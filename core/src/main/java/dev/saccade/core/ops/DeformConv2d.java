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
 * Deformable convolution (Dai et al. 2017), modulated if there is a mask (Zhu et al. 2019).
 *
 * <p>Follows torchvision's {@code deform_conv2d} and mmcv: offsets move the kernel taps, at which
 * the zero-padded input is sampled bilinearly. If a sample is exactly on a cell, its derivatives
 * are computed from this cell and its neighbors to the right and below, even in row or column -1,
 * where mmcv's derivatives are zero. The fused operator samples and multiplies a few positions at a
 * time (on a GPU up to 128 MiB).
 */
public record DeformConv2d(List<Integer> stride, List<Integer> padding, List<Integer> dilation) {

    private static final int MAX = 1 << 16;

    private static final ScriptTemplate PORTABLE =
            ScriptTemplate.read(DeformConv2d.class, "portable");

    public DeformConv2d {
        stride = ImmutableList.copyOf(stride);
        padding = ImmutableList.copyOf(padding);
        dilation = ImmutableList.copyOf(dilation);
        new Checks()
                .size("stride", stride, 2, 2)
                .each("stride", stride, 1, MAX)
                .size("padding", padding, 2, 2)
                .each("padding", padding, 0, MAX)
                .size("dilation", dilation, 2, 2)
                .each("dilation", dilation, 1, MAX)
                .throwIfAny();
    }

    public DeformConv2d(int stride, int padding, int dilation) {
        this(List.of(stride, stride), List.of(padding, padding), List.of(dilation, dilation));
    }

    /**
     * Convolves. The shapes determine the numbers of offset groups ({@code G}) and convolution
     * groups.
     *
     * @param input {@code [N, C, H, W]}
     * @param offset {@code [N, 2 G kh kw, OH, OW]} in cells: dy and dx of each group and tap,
     *     row-major
     * @param mask {@code [N, G kh kw, OH, OW]}, factor of each sample; null for none
     * @param weight {@code [O, C / groups, kh, kw]}
     * @param bias {@code [O]}; null for none
     * @return {@code [N, O, OH, OW]} with {@code OH = (H + 2 p - d (kh - 1) - 1) / s + 1}
     * @throws SaccadeException of kind user that lists inconsistent shapes
     */
    public NDArray run(NDArray input, NDArray offset, NDArray mask, NDArray weight, NDArray bias) {
        check(input, offset, mask, weight, bias);
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
        Object[] inputs = {input, offset, mask, weight, bias, stride, padding, dilation};
        return Script.call("ops.saccade.deform_conv2d", inputs);
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
        // The script ignores the arrays that are passed instead of null.
        return PORTABLE.with(constants)
                .run(
                        input,
                        offset,
                        Objects.requireNonNullElse(mask, offset),
                        weight,
                        Objects.requireNonNullElse(bias, weight));
    }

    private void check(NDArray input, NDArray offset, NDArray mask, NDArray weight, NDArray bias) {
        Problems problems = new Problems();
        checkAxes(problems, "input", input, 4);
        checkAxes(problems, "offset", offset, 4);
        checkAxes(problems, "mask", mask, 4);
        checkAxes(problems, "weight", weight, 4);
        checkAxes(problems, "bias", bias, 1);
        if (problems.isEmpty()) {
            checkSizes(problems, input, offset, mask, weight, bias);
        }
        problems.throwIfAny("deform_conv2d");
    }

    private static void checkAxes(Problems problems, String name, NDArray array, int axes) {
        if (array != null && array.getShape().dimension() != axes) {
            problems.add("%s: got %s, expected %d axes", name, array.getShape(), axes);
        }
    }

    private void checkSizes(
            Problems problems,
            NDArray input,
            NDArray offset,
            NDArray mask,
            NDArray weight,
            NDArray bias) {
        Shape map = input.getShape();
        Shape kernel = weight.getShape();
        long channels = map.get(1);
        long depth = kernel.get(1);
        long taps = kernel.slice(2).size();
        if (!divides(depth, channels)) {
            problems.add(
                    "weight: got %s, expected axis 1 (C / groups) to divide the %d input"
                            + " channels",
                    kernel, channels);
        } else if (kernel.get(0) % (channels / depth) != 0) {
            problems.add(
                    "weight: got %s, expected the same number of outputs for each of %d groups",
                    kernel, channels / depth);
        }
        checkShape(problems, "bias", bias, new Shape(kernel.get(0)));
        long rows = positions(0, map, kernel);
        long columns = positions(1, map, kernel);
        if (rows < 1 || columns < 1) {
            problems.add("input: got %s, expected at least the size of the kernel", map);
            return;
        }
        long moves = offset.getShape().get(1);
        boolean isWhole = divides(2 * taps, moves) && divides(moves / (2 * taps), channels);
        if (!isWhole) {
            problems.add(
                    "offset: got %s, expected %d channels for each of G groups, where G divides"
                            + " the %d input channels",
                    offset.getShape(), 2 * taps, channels);
        }
        checkShape(problems, "offset", offset, new Shape(map.get(0), moves, rows, columns));
        checkShape(problems, "mask", mask, new Shape(map.get(0), moves / 2, rows, columns));
    }

    private static void checkShape(Problems problems, String name, NDArray array, Shape expected) {
        if (array != null && !array.getShape().equals(expected)) {
            problems.add("%s: got %s, expected %s", name, array.getShape(), expected);
        }
    }

    private long positions(int axis, Shape map, Shape kernel) {
        long extent = dilation.get(axis) * (kernel.get(2 + axis) - 1) + 1;
        long free = map.get(2 + axis) + 2L * padding.get(axis) - extent;
        return Math.floorDiv(free, (long) stride.get(axis)) + 1;
    }

    private static boolean divides(long part, long all) {
        return part > 0 && all % part == 0;
    }
}

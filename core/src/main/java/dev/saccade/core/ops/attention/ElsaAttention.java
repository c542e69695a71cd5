package dev.saccade.core.ops.attention;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.script.Tracer;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Attention of every token to its neighborhood, with a ghost head (Zhou et al. 2021, "ELSA", Eq. 5
 * and Algorithm 1; {@code elsa_op} of the official code):
 *
 * <pre>{@code
 * y[c, p] = sum_o (mul[c, o]^lambda a[g(c), o, p] + gamma add[c, o]) v[c, p + dilation o]
 * }</pre>
 *
 * <p>over the offsets {@code o} of a square, row-major. Beyond the map values are zero, though the
 * softmax counts the offsets there. The channels of a group {@code g} lie side by side, as in the
 * official code; the paper's text interleaves the groups.
 *
 * <p>No value is ever held once for each offset. The weights of a few tokens in a row are laid out
 * as a band matrix instead, so that one row of the kernel is one product of matrices, for one
 * column of such rows at a time; these bands are three times as large as the values. Where {@code
 * lambda} is not 0, as in no published model, no such product exists, and it is slower. The fused
 * operator makes weights and sums of a tile at a time in the cache.
 *
 * @param kernel side of the square, odd
 * @param dilation distance between neighbors
 * @param lambda exponent of the ghost head's factors; at 0 there are none
 * @param gamma factor of the ghost head's summands; at 0 there are none
 */
public record ElsaAttention(int kernel, int dilation, double lambda, double gamma) {

    private static final ScriptTemplate SOFTMAX =
            ScriptTemplate.of(
                    "(logits: Tensor) -> Tensor",
                    """
                    heads = torch.reshape(logits, torch.slice(torch.size(logits), 0, 3) + [-1, {taps}])
                    return torch.reshape(torch.softmax(heads, -1), torch.size(logits))
                    """);

    /** Tokens of a row that share a band: few waste little of it, many make large products. */
    private static final int TILE = 7;

    /**
     * Sums where there are no factors: for the {@code tile} tokens of a tile and a row of the
     * kernel, a product of a band matrix of weights, {@code [tile, band]}, with the {@code band}
     * pixels of a row of the map that the tile sees, {@code [band, depth]}.
     */
    private static final ScriptTemplate BANDS =
            ScriptTemplate.of(
                    "(v: Tensor, a: Tensor) -> Tensor",
                    """
                    kernel = {kernel}
                    tile = {tile}
                    reach = {reach}
                    band = {band}
                    dilation = {dilation}
                    n = torch.size(v, 0)
                    h = torch.size(v, 1)
                    w = torch.size(v, 2)
                    groups = torch.size(a, 3) // (kernel * kernel)
                    depth = torch.size(v, 3) // groups
                    tiles = (w + tile - 1) // tile
                    extra = tiles * tile - w

                    # The values of each column of tiles, [tiles][h + 2 reach, n, groups, band, depth].
                    padded = torch.constant_pad_nd(v, [0, 0, reach, reach + extra, reach, reach])
                    pixels = torch.unfold(padded, 2, band, tile)
                    pixels = torch.reshape(pixels, [n, h + 2 * reach, tiles, groups, depth, band])
                    values = torch.unbind(torch.contiguous(torch.permute(pixels, [2, 1, 0, 3, 5, 4])))

                    # The weights of the same, [tiles][h, n, groups, tile, kernel, kernel, 1].
                    if extra > 0:
                      a = torch.constant_pad_nd(a, [0, 0, 0, extra])
                    taps = torch.reshape(a, [n, h, tiles, tile, groups, kernel, kernel, 1])
                    weights = torch.unbind(torch.permute(taps, [2, 1, 0, 4, 3, 5, 6, 7]))

                    columns = annotate(List[Tensor], [])
                    for i in range(tiles):
                      # Zeros between taps, as far apart as their pixels, and up to band + 1 numbers.
                      row = weights[i]
                      if dilation > 1:
                        row = torch.constant_pad_nd(row, [0, dilation - 1])
                      row = torch.reshape(row, [h, n, groups, tile, kernel, kernel * dilation])
                      row = torch.constant_pad_nd(row, [0, band + 1 - kernel * dilation])

                      # Read again with one number less a token, each token's taps stand one place
                      # right of its predecessor's: band matrices, side by side, a number between two.
                      flat = torch.reshape(row, [h * n * groups, -1])
                      skewed = torch.slice(flat, 1, 0, -tile)
                      skewed = torch.reshape(skewed, [h * n * groups, tile, -1])
                      bands = torch.split_with_sizes(skewed, {bands_and_gaps}, 2)

                      near = torch.slice(values[i], 0, 0, h)
                      y = torch.bmm(bands[0], torch.reshape(near, [-1, band, depth]))
                      for k in range(1, kernel):
                        near = torch.slice(values[i], 0, k * dilation, k * dilation + h)
                        y = torch.baddbmm_(y, bands[2 * k], torch.reshape(near, [-1, band, depth]))
                      columns = torch.append(columns, torch.reshape(y, [h, n, groups, tile, depth]))

                    y = torch.permute(torch.stack(columns, 2), [1, 0, 2, 4, 3, 5])
                    y = torch.reshape(y, [n, h, tiles * tile, groups * depth])
                    return torch.slice(y, 2, 0, w)
                    """);

    /** The same sums, one neighbor after the other, by operators whose number is that of them. */
    private static final ScriptTemplate TAPS =
            ScriptTemplate.of(
                    "(v: Tensor, a: Tensor) -> Tensor",
                    """
                    kernel = {kernel}
                    reach = {reach}
                    dilation = {dilation}
                    n = torch.size(v, 0)
                    h = torch.size(v, 1)
                    w = torch.size(v, 2)
                    g = torch.size(a, 3) // (kernel * kernel)
                    padded = torch.constant_pad_nd(v, [0, 0, reach, reach, reach, reach])
                    padded = torch.reshape(padded, [n, h + 2 * reach, w + 2 * reach, g, -1])
                    weights = torch.unbind(torch.reshape(a, [n, h, w, g, 1, kernel * kernel]), 5)
                    y = torch.zeros([], dtype=6, device=v.device)
                    for k in range(kernel * kernel):
                      top = (k // kernel) * dilation
                      left = (k % kernel) * dilation
                      near = torch.slice(torch.slice(padded, 1, top, top + h), 2, left, left + w)
                      y = torch.add(y, torch.mul(near, weights[k]))
                    return torch.reshape(y, torch.size(v))
                    """);

    /**
     * Sums where each channel has factors of its own; three are multiplied at once, to hold none.
     */
    private static final ScriptTemplate MODULATED =
            ScriptTemplate.of(
                    "(v: Tensor, a: Tensor, mul: Tensor) -> Tensor",
                    """
                    kernel = {kernel}
                    reach = {reach}
                    dilation = {dilation}
                    n = torch.size(v, 0)
                    h = torch.size(v, 1)
                    w = torch.size(v, 2)
                    g = torch.size(a, 3) // (kernel * kernel)
                    padded = torch.constant_pad_nd(v, [0, 0, reach, reach, reach, reach])
                    padded = torch.reshape(padded, [n, h + 2 * reach, w + 2 * reach, g, -1])
                    weights = torch.unbind(torch.reshape(a, [n, h, w, g, kernel, kernel]), 4)
                    factors = torch.reshape(torch.pow(mul, {lambda}), [g, -1, kernel, kernel])
                    factors = torch.unbind(torch.permute(factors, [2, 0, 3, 1]))
                    y = torch.new_zeros(v, [n, h, w, g, torch.size(v, 3) // g])
                    for k in range(kernel):
                      row = torch.slice(padded, 1, k * dilation, k * dilation + h)
                      near = torch.transpose(torch.unfold(row, 2, 2 * reach + 1, 1), 4, 5)
                      near = torch.slice(near, 4, 0, 2 * reach + 1, dilation)
                      part = torch._trilinear(factors[k], near, weights[k], [0, 1, 2], [], [5], [4])
                      y = torch.add_(y, part)
                    return torch.reshape(y, torch.size(v))
                    """);

    private static final ScriptTemplate STATIC =
            ScriptTemplate.of(
                    "(y: Tensor, v: Tensor, add: Tensor) -> Tensor",
                    """
                    reach = {reach}
                    dilation = {dilation}
                    c = torch.size(v, 3)
                    filter = torch.reshape(add, [c, 1, {kernel}, {kernel}]) * {gamma}
                    maps = torch.permute(v, [0, 3, 1, 2])
                    out = torch.conv2d(maps, filter, None, [1, 1], [reach, reach], [dilation, dilation], c)
                    out = torch.add_(out, torch.permute(y, [0, 3, 1, 2]))
                    return torch.permute(out, [0, 2, 3, 1])
                    """);

    /** Checks the values. */
    public ElsaAttention {
        checkArgument(kernel > 0 && kernel % 2 == 1, "kernel: got %s, expected odd", kernel);
        checkArgument(dilation > 0, "dilation: got %s, expected > 0", dilation);
    }

    /** Returns how far a token sees to each side. */
    private int reach() {
        return kernel / 2 * dilation;
    }

    /**
     * Returns the shape of the ghost head of {@code channels} channels: {@code [2, 1, C, K, K]} for
     * factors and summands, {@code [1, C, K, K]} for one of them; empty if there are neither.
     */
    public Optional<Shape> ghostHead(int channels) {
        Shape one = new Shape(1, channels, kernel, kernel);
        if (lambda != 0 && gamma != 0) {
            return Optional.of(new Shape(2).addAll(one));
        }
        return lambda != 0 || gamma != 0 ? Optional.of(one) : Optional.empty();
    }

    /**
     * Attends.
     *
     * @param values {@code [N, H, W, C]}
     * @param logits {@code [N, H, W, G K^2]}
     * @param ghostHead of the shape {@link #ghostHead}
     * @return {@code [N, H, W, C]}
     */
    public NDArray attend(NDArray values, NDArray logits, Optional<NDArray> ghostHead) {
        return Kernels.isFusedFor(values)
                ? fused(values, logits, ghostHead)
                : portable(values, logits, ghostHead);
    }

    NDArray portable(NDArray values, NDArray logits, Optional<NDArray> ghostHead) {
        NDArray weights = SOFTMAX.with(Map.of("taps", kernel * kernel)).run(logits);
        return aggregate(values, weights, ghostHead);
    }

    NDArray fused(NDArray values, NDArray logits, Optional<NDArray> ghostHead) {
        int summands = (lambda == 0 ? 1 : 2) + (gamma == 0 ? 0 : 1);
        NDArray mul = lambda == 0 ? null : Script.call("torch.pow", flat(ghostHead, 0), lambda);
        NDArray add = gamma == 0 ? null : Functional.mul(flat(ghostHead, 1), gamma);
        return counted(
                summands,
                values,
                () ->
                        Script.call(
                                "ops.saccade.elsa_attention",
                                values,
                                logits,
                                mul,
                                add,
                                kernel,
                                dilation));
    }

    /** Counts some products for each value and offset. */
    private NDArray counted(int products, NDArray values, Supplier<NDArray> operator) {
        return MultiplyAdds.run(
                products * values.size() * kernel * kernel, values, values.getShape(), operator);
    }

    /**
     * Sums the values with given weights.
     *
     * @param values {@code [N, H, W, C]}
     * @param weights {@code [N, H, W, G K^2]}
     * @param ghostHead of the shape {@link #ghostHead}
     * @return {@code [N, H, W, C]}
     */
    public NDArray aggregate(NDArray values, NDArray weights, Optional<NDArray> ghostHead) {
        NDArray y =
                lambda == 0
                        ? banded(values, weights)
                        : modulated(values, weights, part(ghostHead, 0));
        return gamma == 0 ? y : withStatic(y, values, part(ghostHead, 1));
    }

    private NDArray part(Optional<NDArray> ghostHead, int index) {
        NDArray all = ghostHead.orElseThrow();
        return lambda != 0 && gamma != 0 ? all.get(index) : all;
    }

    private NDArray flat(Optional<NDArray> ghostHead, int index) {
        return part(ghostHead, index).reshape(-1, (long) kernel * kernel);
    }

    private NDArray banded(NDArray values, NDArray weights) {
        return counted(1, values, () -> bandedSums(values, weights));
    }

    private NDArray bandedSums(NDArray values, NDArray weights) {
        if (Tracer.isRecording()) {
            return TAPS.with(Map.of("kernel", kernel, "dilation", dilation, "reach", reach()))
                    .run(values, weights);
        }
        int band = TILE + 2 * reach();
        List<Integer> bandsAndGaps = new ArrayList<>(List.of(band));
        for (int row = 1; row < kernel; row++) {
            Collections.addAll(bandsAndGaps, 1, band);
        }
        return BANDS.with(
                        Map.of(
                                "kernel", kernel,
                                "dilation", dilation,
                                "reach", reach(),
                                "tile", TILE,
                                "band", band,
                                "bands_and_gaps", bandsAndGaps))
                .run(values, weights);
    }

    private NDArray modulated(NDArray values, NDArray weights, NDArray mul) {
        Map<String, ?> constants =
                Map.of(
                        "kernel", kernel,
                        "dilation", dilation,
                        "reach", reach(),
                        "lambda", lambda);
        return counted(2, values, () -> MODULATED.with(constants).run(values, weights, mul));
    }

    private NDArray withStatic(NDArray y, NDArray values, NDArray add) {
        Map<String, ?> constants =
                Map.of(
                        "kernel", kernel,
                        "dilation", dilation,
                        "reach", reach(),
                        "gamma", gamma);
        return counted(1, values, () -> STATIC.with(constants).run(y, values, add));
    }
}

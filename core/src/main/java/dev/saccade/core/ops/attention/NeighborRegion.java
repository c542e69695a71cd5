package dev.saccade.core.ops.attention;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.script.Tracer;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The {@code K x K} tokens around a query; outside the map, keys and values are zeros. Parts are
 * {@code [N, H, W, heads, d]}, values {@code [N, H, W, heads, K * K]}; the offsets are row-major.
 *
 * <p>Rows are cut into sliding chunks (Zhang et al. 2021) of K queries. With each of the K rows
 * around it, of 2 K - 1 keys, a chunk makes a small matrix product, of which the diagonals are the
 * neighbors; nothing of K * K times the size of the map is made.
 *
 * @param kernel K, odd
 */
public record NeighborRegion(int kernel) implements FilterRegion {

    /** To {@code [H + K - 1, N * chunks * heads, 2 K - 1, d]}. */
    private static final ScriptTemplate ROWS =
            ScriptTemplate.of(
                    "(x: Tensor) -> Tensor",
                    """
                    kernel = {kernel}
                    right = kernel // 2 + (kernel - torch.size(x, 2) % kernel) % kernel
                    pad = [0, 0, 0, 0, kernel // 2, right, kernel // 2, kernel // 2]
                    chunks = torch.unfold(torch.constant_pad_nd(x, pad), 2, 2 * kernel - 1, kernel)
                    rows = torch.permute(chunks, [1, 0, 2, 3, 5, 4])
                    height = torch.size(x, 1) + kernel - 1
                    return torch.reshape(rows, [height, -1, 2 * kernel - 1, torch.size(x, 4)])
                    """);

    private static final ScriptTemplate PRODUCTS =
            ScriptTemplate.of(
                    "(q: Tensor, rows: Tensor) -> Tensor",
                    """
                    kernel = {kernel}
                    n = torch.size(q, 0)
                    h = torch.size(q, 1)
                    w = torch.size(q, 2)
                    heads = torch.size(q, 3)
                    chunks = (w + kernel - 1) // kernel
                    if w % kernel > 0:
                      q = torch.constant_pad_nd(q, [0, 0, 0, 0, 0, chunks * kernel - w])
                    cells = torch.reshape(q, [n, h, chunks, kernel, heads, -1])
                    ordered = torch.permute(cells, [1, 0, 2, 4, 3, 5])
                    m = n * chunks * heads
                    queries = torch.reshape(ordered, [h, m, kernel, -1])
                    b = 2 * kernel - 1
                    strides = [m * kernel * b, kernel * b, b + 1, 1]
                    near = annotate(List[Tensor], [])
                    for y in range(kernel):
                      keys = torch.slice(rows, 0, y, y + h)
                      band = torch.matmul(queries, torch.transpose(keys, 2, 3))
                      diagonals = torch.as_strided(band, [h, m, kernel, kernel], strides)
                      parts = torch.reshape(diagonals, [h, n, chunks, heads, kernel, kernel])
                      _ = torch.append(near, torch.permute(parts, [1, 0, 2, 4, 3, 5]))
                    size = [n, h, chunks * kernel, heads, kernel * kernel]
                    values = torch._unsafe_view(torch.stack(near, 5), size)
                    if w % kernel > 0:
                      values = torch.contiguous(torch.slice(values, 2, 0, w))
                    return values
                    """);

    private static final Script OF_QUERIES =
            Script.compile(
                    "(q: Tensor, rk: Tensor) -> Tensor",
                    """
                    size = torch.slice(torch.size(q), 0, 3)
                    heads = torch.size(q, 3)
                    maps = torch.permute(torch.reshape(q, size + [-1]), [0, 3, 1, 2])
                    kernel = torch.reshape(torch.transpose(rk, 1, 2), [-1, torch.size(q, 4), 1, 1])
                    y = torch.conv2d(maps, kernel, None, [1, 1], [0, 0], [1, 1], heads)
                    return torch.reshape(torch.permute(y, [0, 2, 3, 1]), size + [heads, -1])
                    """);

    /** Every value from the token that it is about to its neighbor at the opposite offset. */
    private static final ScriptTemplate AROUND =
            ScriptTemplate.of(
                    "(values: Tensor) -> Tensor",
                    """
                    kernel = {kernel}
                    h = torch.size(values, 1)
                    w = torch.size(values, 2)
                    r = kernel // 2
                    padded = torch.constant_pad_nd(values, [0, 0, 0, 0, r, r, r, r])
                    offsets = torch.unbind(padded, -1)
                    near = annotate(List[Tensor], [])
                    for i in range(kernel * kernel):
                      y = i // kernel
                      x = i % kernel
                      rows = torch.slice(offsets[i], 1, y, y + h)
                      _ = torch.append(near, torch.slice(rows, 2, x, x + w))
                    return torch.stack(near, -1)
                    """);

    private static final ScriptTemplate APPLY =
            ScriptTemplate.of(
                    "(filters: Tensor, rows: Tensor) -> Tensor",
                    """
                    kernel = {kernel}
                    n = torch.size(filters, 0)
                    h = torch.size(filters, 1)
                    w = torch.size(filters, 2)
                    heads = torch.size(filters, 3)
                    d = torch.size(rows, 3)
                    chunks = (w + kernel - 1) // kernel
                    if w % kernel > 0:
                      pad = [0, 0, 0, 0, 0, chunks * kernel - w]
                      filters = torch.constant_pad_nd(filters, pad)
                    cells = torch.reshape(filters, [n, h, chunks, kernel, heads, kernel, kernel])
                    near = torch.unbind(torch.permute(cells, [5, 1, 0, 2, 4, 3, 6]))
                    m = h * n * chunks * heads
                    b = 2 * kernel - 1
                    out = torch.new_zeros(rows, [m, kernel, d])
                    for y in range(kernel):
                      flat = torch.reshape(torch.constant_pad_nd(near[y], [0, kernel]), [m, -1])
                      band = torch.reshape(torch.slice(flat, 1, 0, kernel * b), [m, kernel, b])
                      values = torch.reshape(torch.slice(rows, 0, y, y + h), [m, b, d])
                      out = torch.baddbmm_(out, band, values)
                    cells = torch.reshape(out, [h, n, chunks, heads, kernel, d])
                    ordered = torch.permute(cells, [1, 0, 2, 4, 3, 5])
                    map = torch.reshape(ordered, [n, h, chunks * kernel, heads * d])
                    if w % kernel > 0:
                      map = torch.slice(map, 2, 0, w)
                    return map
                    """);

    /** What {@link #PRODUCTS} gives, by operators of which there is one for each neighbor. */
    private static final ScriptTemplate PRODUCTS_BY_OFFSET =
            ScriptTemplate.of(
                    "(q: Tensor, k: Tensor) -> Tensor",
                    """
                    kernel = {kernel}
                    h = torch.size(q, 1)
                    w = torch.size(q, 2)
                    r = kernel // 2
                    padded = torch.constant_pad_nd(k, [0, 0, 0, 0, r, r, r, r])
                    near = annotate(List[Tensor], [])
                    for i in range(kernel * kernel):
                      y = i // kernel
                      x = i % kernel
                      keys = torch.slice(torch.slice(padded, 1, y, y + h), 2, x, x + w)
                      _ = torch.append(near, torch.sum(torch.mul(q, keys), [4]))
                    return torch.stack(near, 4)
                    """);

    /** What {@link #APPLY} gives, by operators of which there is one for each neighbor. */
    private static final ScriptTemplate APPLY_BY_OFFSET =
            ScriptTemplate.of(
                    "(filters: Tensor, v: Tensor) -> Tensor",
                    """
                    kernel = {kernel}
                    h = torch.size(filters, 1)
                    w = torch.size(filters, 2)
                    r = kernel // 2
                    padded = torch.constant_pad_nd(v, [0, 0, 0, 0, r, r, r, r])
                    weights = torch.unbind(torch.unsqueeze(filters, 5), 4)
                    out = torch.zeros([], dtype=6, device=v.device)
                    for i in range(kernel * kernel):
                      y = i // kernel
                      x = i % kernel
                      near = torch.slice(torch.slice(padded, 1, y, y + h), 2, x, x + w)
                      out = torch.add(out, torch.mul(weights[i], near))
                    return torch.flatten(out, 3)
                    """);

    private Script with(ScriptTemplate template) {
        return template.with(Map.of("kernel", kernel));
    }

    @Override
    public int keys() {
        return kernel * kernel;
    }

    @Override
    public int offsets() {
        return kernel * kernel;
    }

    @Override
    public NDArray arrange(NDArray map) {
        return map;
    }

    @Override
    public List<NDArray> split(NDArray map, int parts, int heads) {
        long[] shape = map.getShape().getShape();
        return map.split(parts, 3).stream()
                .map(part -> part.reshape(shape[0], shape[1], shape[2], heads, -1))
                .toList();
    }

    @Override
    public NDArray products(NDArray q, NDArray k) {
        return MultiplyAdds.run(
                q.size() * keys(),
                q,
                values(q),
                () ->
                        Tracer.isRecording()
                                ? with(PRODUCTS_BY_OFFSET).run(q, k)
                                : onRows(PRODUCTS, q, k));
    }

    @Override
    public NDArray ofQueries(NDArray q, NDArray rk) {
        return MultiplyAdds.run(q.size() * keys(), q, values(q), () -> OF_QUERIES.run(q, rk));
    }

    /** Rows take 14 times the memory of the part, so they are freed at once. */
    private NDArray onRows(ScriptTemplate operator, NDArray x, NDArray part) {
        try (NDArray rows = with(ROWS).run(part)) {
            return with(operator).run(x, rows);
        }
    }

    /** Returns the shape of one value for each neighbor of a part. */
    private Shape values(NDArray part) {
        return part.getShape().slice(0, 4).add(keys());
    }

    @Override
    public NDArray ofKeys(NDArray k, NDArray rq) {
        return with(AROUND).run(ofQueries(k, rq));
    }

    @Override
    public NDArray ofOffsets(NDArray rb) {
        return rb;
    }

    @Override
    public Optional<NDArray> unseen(NDArray arranged) {
        return Optional.empty();
    }

    @Override
    public NDArray apply(NDArray filters, NDArray v, Shape map) {
        Shape shape = v.getShape();
        return MultiplyAdds.run(
                v.size() * keys(),
                v,
                shape.slice(0, 3).add(shape.get(3) * shape.get(4)),
                () ->
                        Tracer.isRecording()
                                ? with(APPLY_BY_OFFSET).run(filters, v)
                                : onRows(APPLY, filters, v));
    }
}

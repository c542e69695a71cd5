package dev.saccade.core.ops.attention;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.script.Tracer;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The {@code K x K} neighborhood of a query, zero-padded. Split maps are {@code [N, H, W, heads,
 * d]}, filters {@code [N, H, W, heads, K * K]}; offsets are row-major.
 *
 * <p>Rows are split into sliding chunks (Zhang et al. 2021) of K queries. A chunk is multiplied
 * with each of the K rows around it (2 K - 1 keys each), and the diagonals of the result are the
 * products with the neighbors. No array is K * K times the size of the map.
 */
public record NeighborRegion(int kernel) implements FilterRegion {

    private static final ScriptTemplate ROWS = ScriptTemplate.read(NeighborRegion.class, "rows");

    private static final ScriptTemplate PRODUCTS =
            ScriptTemplate.read(NeighborRegion.class, "products");

    private static final ScriptTemplate AROUND =
            ScriptTemplate.read(NeighborRegion.class, "around");

    private static final ScriptTemplate PRODUCTS_BY_OFFSET =
            ScriptTemplate.read(NeighborRegion.class, "products_by_offset");

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
        return MultiplyAdds.run(q.size() * keys(), q, values(q), () -> productsOf(q, k));
    }

    private NDArray productsOf(NDArray q, NDArray k) {
        if (Tracer.isRecording()) {
            return with(PRODUCTS_BY_OFFSET).run(q, k);
        }
        // Rows take about twice the memory of the keys, so they are freed immediately.
        try (NDArray rows = with(ROWS).run(k)) {
            return with(PRODUCTS).run(q, rows);
        }
    }

    @Override
    public NDArray ofQueries(NDArray q, NDArray rk) {
        Shape shape = q.getShape();
        NDArray maps = q.reshape(shape.slice(0, 3).add(-1)).transpose(0, 3, 1, 2);
        NDArray filters = rk.transpose(0, 2, 1).reshape(-1, shape.get(4), 1, 1);
        return Functional.conv2d(maps, filters, null, 1, 0, 1, (int) shape.get(3))
                .transpose(0, 2, 3, 1)
                .reshape(values(q));
    }

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
    public Optional<NDArray> mask(NDArray arranged) {
        return Optional.empty();
    }

    @Override
    public NDArray apply(NDArray filters, NDArray v, Shape map) {
        Shape image = v.getShape().slice(0, 3);
        return new ElsaAttention(kernel, 1, 0, 0)
                .aggregate(
                        v.reshape(image.add(-1)), filters.reshape(image.add(-1)), Optional.empty());
    }
}

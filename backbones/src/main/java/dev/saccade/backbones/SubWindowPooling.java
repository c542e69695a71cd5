package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.attention.WindowPooling;
import dev.saccade.core.ops.script.Script;

import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Pools focal level k: divides each window into {@code 2^k} by {@code 2^k} cells. As in the
 * official code, tokens that do not fill whole cells are trimmed evenly on all sides of the map,
 * which shifts cells relative to windows.
 */
final class SubWindowPooling extends Layer {

    private final int window;
    private final int parts;
    private final int part;
    private final UnaryOperator<NDArray> pool;

    /** Creates the pooling of a level, counted from 0; {@code window} is the window size. */
    SubWindowPooling(Focal.Pool method, int channels, int window, int level) {
        this.window = window;
        parts = 1 << level;
        part = window / parts;
        pool =
                switch (method) {
                    case FC -> weighted();
                    case MEAN ->
                            ofMaps(x -> Script.call("torch.avg_pool2d", x, List.of(part, part)));
                    case MAX ->
                            ofMaps(x -> Script.call("torch.max_pool2d", x, List.of(part, part)));
                    case CONV ->
                            ofMaps(
                                    add(
                                            "",
                                            Conv2d.withDefaultInit(
                                                    new Geometry(channels, channels, part)
                                                            .stride(part)
                                                            .groups(channels))));
                };
    }

    private UnaryOperator<NDArray> weighted() {
        Shape shape = new Shape(1, (long) part * part);
        Parameter weight = parameter("weight", shape, WeightInit.truncatedNormal(0.02));
        Parameter bias = parameter("bias", new Shape(1), WeightInit.ZEROS);
        return x -> WindowPooling.pool(x, weight.getArray(), bias.getArray(), part);
    }

    private static UnaryOperator<NDArray> ofMaps(UnaryOperator<NDArray> pool) {
        return x -> pool.apply(x.transpose(0, 3, 1, 2)).transpose(0, 2, 3, 1);
    }

    /**
     * Maps {@code [N, H, W, C]}, with H and W multiples of the window size, to {@code [N, cells,
     * C]} in row-major order.
     */
    @Override
    protected NDArray forward(NDArray x) {
        return pool.apply(trimmed(x)).reshape(x.getShape().get(0), -1, x.getShape().get(3));
    }

    private NDArray trimmed(NDArray x) {
        if (parts * part == window) {
            return x;
        }
        long height = x.getShape().get(1) / window * parts * part;
        long width = x.getShape().get(2) / window * parts * part;
        long top = (x.getShape().get(1) - height) / 2;
        long left = (x.getShape().get(2) - width) / 2;
        return x.get(":, {}:{}, {}:{}", top, top + height, left, left + width);
    }
}

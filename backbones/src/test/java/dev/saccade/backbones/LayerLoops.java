package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.training.GradientCollector;

import dev.saccade.core.nn.Layer;
import dev.saccade.core.ops.memory.NoGrad;

import java.util.ArrayList;
import java.util.List;

/** Reference implementations of layers as loops, and the map they run on. */
final class LayerLoops {

    /** Position of a key, its offset from the query, and whether it is visible. */
    record KeyToken(int y, int x, int dy, int dx, boolean seen) {}

    private final Layer layer;
    private final NDArray tokens;
    private final Grid map;

    /** Replaces all parameters by random values that are not close to 0. */
    LayerLoops(NDManager manager, Layer layer, NDArray tokens) {
        this.layer = layer;
        this.tokens = tokens;
        map = new Grid(tokens);
        layer.initialize(manager, 0);
        layer.namedParameters()
                .values()
                .forEach(
                        parameter -> {
                            NDArray values = parameter.getArray();
                            values.subi(values)
                                    .addi(manager.randomNormal(values.getShape()).mul(0.5));
                        });
    }

    Grid input() {
        return map;
    }

    NDArray parameter(String name) {
        return layer.namedParameters().get(name).getArray();
    }

    Grid grid(String name) {
        return new Grid(parameter(name));
    }

    Grid output() {
        return new Grid(NoGrad.call(() -> layer.apply(tokens)));
    }

    /** Returns a projection of the tokens, {@code [N, H, W, rows]}; see {@link Linear#at}. */
    Linear linear(String name) {
        return new Linear(grid(name + ".weight"), grid(name + ".bias"), map);
    }

    /** A linear layer; outside of its map, where tokens are 0, the result is the bias. */
    record Linear(Grid weight, Grid bias, Grid map) {

        double at(int n, int y, int x, int row) {
            double sum = bias.at(row);
            for (int c = 0; c < weight.size(1); c++) {
                sum += weight.at(row, c) * map.at(n, y, x, c);
            }
            return sum;
        }

        /** Returns the value, or 0 outside of the map. */
        double within(int n, int y, int x, int row) {
            boolean inside = y >= 0 && y < map.size(1) && x >= 0 && x < map.size(2);
            return inside ? at(n, y, x, row) : 0;
        }
    }

    /** Returns the keys in the window of a query, row-major. */
    List<KeyToken> window(int side, int shift, int y, int x) {
        int height = (map.size(1) + side - 1) / side * side;
        int width = (map.size(2) + side - 1) / side * side;
        int row = Math.floorMod(y - shift, height);
        int column = Math.floorMod(x - shift, width);
        List<KeyToken> keys = new ArrayList<>();
        for (int r = row / side * side; r < row / side * side + side; r++) {
            for (int c = column / side * side; c < column / side * side + side; c++) {
                boolean seen =
                        label(r, height, side, shift) == label(row, height, side, shift)
                                && label(c, width, side, shift)
                                        == label(column, width, side, shift);
                keys.add(
                        new KeyToken(
                                (r + shift) % height,
                                (c + shift) % width,
                                r - row,
                                c - column,
                                seen));
            }
        }
        return keys;
    }

    private static int label(int position, int size, int side, int shift) {
        if (shift == 0 || position < size - side) {
            return 0;
        }
        return position < size - shift ? 1 : 2;
    }

    /** Returns the keys around a query, row-major. */
    static List<KeyToken> neighbors(int kernel, int y, int x) {
        List<KeyToken> keys = new ArrayList<>();
        for (int dy = -kernel / 2; dy <= kernel / 2; dy++) {
            for (int dx = -kernel / 2; dx <= kernel / 2; dx++) {
                keys.add(new KeyToken(y + dy, x + dx, dy, dx, true));
            }
        }
        return keys;
    }

    /**
     * Compares every gradient with one-sided difference quotients along a random direction. If a
     * ReLU switches in between, these differ.
     */
    void assertGradients(NDManager manager) {
        NDArray weights = manager.randomNormal(tokens.getShape());
        tokens.setRequiresGradient(true);
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            collector.backward(layer.apply(tokens).mul(weights).sum());
        }
        assertGradient(manager, "tokens", tokens, weights);
        layer.namedParameters()
                .forEach((name, p) -> assertGradient(manager, name, p.getArray(), weights));
    }

    private void assertGradient(NDManager manager, String name, NDArray x, NDArray weights) {
        NDArray direction = manager.randomNormal(x.getShape());
        direction = direction.div(direction.norm());
        double analytic = x.getGradient().mul(direction).sum().getFloat();
        double here = lossAt(x, direction, 0, weights);
        double after = (lossAt(x, direction, STEP, weights) - here) / STEP;
        double before = (here - lossAt(x, direction, -STEP, weights)) / STEP;
        double allowed = 5e-3 * Math.max(1, x.getGradient().norm().getFloat());
        assertTrue(
                Math.min(before, after) - allowed < analytic
                        && analytic < Math.max(before, after) + allowed,
                name + ": " + analytic + ", quotients " + before + " and " + after);
    }

    private static final float STEP = 3e-3f;

    private double lossAt(NDArray x, NDArray direction, float step, NDArray weights) {
        return NoGrad.call(
                () -> {
                    NDArray before = x.duplicate();
                    x.addi(direction.mul(step));
                    Grid output = output();
                    x.subi(x).addi(before);
                    Grid factors = new Grid(weights);
                    double[] sum = new double[1];
                    output.forEach((index, value) -> sum[0] += value * factors.at(index));
                    return sum[0];
                });
    }
}

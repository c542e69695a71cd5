package dev.saccade.core.ops.attention;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;

import dev.saccade.core.ops.script.Kernels;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

class FocalBiasTest {

    private static final FocalRegion REGION = new FocalRegion(7, 0, 3, 7, 1, false);

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    @Test
    void countsNeighborsAndKeys() {
        assertEquals(132, REGION.neighbors());
        assertEquals(169 + 49, REGION.keys());
        assertEquals(6, new FocalRegion(7, 0, 3, 5, 2, false).cells(1));
    }

    /** If a token has two slots, the one with the much larger bias dominates. */
    @Test
    void neighborsAreOrderedAsInTheOriginal() {
        Map<Integer, List<Integer>> first = offsets(true);
        assertEquals(120, first.size());
        assertEquals(List.of(3, 7), first.get(0));
        assertEquals(List.of(3, 8), first.get(1));
        assertEquals(List.of(3, 9), first.get(2));
        assertEquals(List.of(4, 7), first.get(3));
        assertEquals(List.of(3, -3), first.get(33));
        assertEquals(List.of(-3, 3), first.get(66));
        assertEquals(List.of(-3, -3), first.get(99));
        Map<Integer, List<Integer>> last = offsets(false);
        assertEquals(120, last.size());
        assertEquals(List.of(3, 7), last.get(96));
        assertEquals(List.of(-3, 3), last.get(105));
        assertEquals(List.of(3, -3), last.get(129));
        assertEquals(List.of(-1, 3), last.get(119));
    }

    /** Returns row and column of each slot of the table relative to the window. */
    private Map<Integer, List<Integer>> offsets(boolean descending) {
        float[] slots = new float[49 * 132];
        for (int i = 0; i < slots.length; i++) {
            slots[i] = 100 * (descending ? 132 - i % 132 : 1 + i % 132);
        }
        NDArray table = manager.create(slots, new Shape(1, 1, 49, 132));
        NDArray own = manager.zeros(new Shape(169, 1));
        float[] bias =
                FocalBias.lookUp(REGION, own, Optional.of(table), List.of())
                        .get("0, 20")
                        .toFloatArray();
        Map<Integer, List<Integer>> offsets = new TreeMap<>();
        for (int key = 0; key < 169; key++) {
            if (bias[key] > 0) {
                int rank = Math.round(bias[key] / 100) - 1;
                offsets.put(descending ? 131 - rank : rank, List.of(key / 13 - 3, key % 13 - 3));
            }
        }
        return offsets;
    }

    /** Exponentials of the biases of a token add up, and so do their gradients. */
    @Test
    void mergesDuplicateKeys() {
        NDArray own = manager.randomNormal(new Shape(169, 2));
        NDArray slots = manager.randomNormal(new Shape(1, 2, 49, 132));
        slots.setRequiresGradient(true);
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            NDArray sum = FocalBias.lookUp(REGION, own, Optional.of(slots), List.of()).exp().sum();
            float listed = RelativePositionBias.ofWindow(own, 7, 7).exp().sum().getFloat();
            assertEquals(listed + slots.exp().sum().getFloat(), sum.getFloat(), 1e-5f * listed);
            collector.backward(sum);
        }
        assertArrayEquals(slots.exp().toFloatArray(), slots.getGradient().toFloatArray(), 1e-4f);
    }

    @Test
    void cellTablesAreIndexedByQueryMinusCell() {
        NDArray table = manager.arange(169f).reshape(1, 169);
        NDArray bias = RelativePositionBias.ofCells(table, 7);
        assertEquals(new Shape(1, 49, 49), bias.getShape());
        assertEquals(84, bias.getFloat(0, 0, 0));
        assertEquals(168, bias.getFloat(0, 48, 0));
        assertEquals(0, bias.getFloat(0, 0, 48));
        NDArray small = RelativePositionBias.ofCells(manager.arange(64f).reshape(1, 64), 6);
        assertEquals(new Shape(1, 36, 9), small.getShape());
        assertEquals((5 - 1 + 2) * 8 + 3 - 2 + 2, small.getFloat(0, 5 * 6 + 3, 1 * 3 + 2));
    }

    /** Rings that overlap, do not meet and are as wide as the window; two levels, one and none. */
    @ParameterizedTest
    @CsvSource({"7, 3, 7, 1", "7, 3, 5, 2", "5, 1, 3, 1", "6, 0, 3, 1", "4, 4, 3, 0"})
    void fusedEqualsPortable(int window, int expand, int focalWindow, int levels) {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
        FocalRegion region = new FocalRegion(window, 0, expand, focalWindow, levels, false);
        int heads = 3;
        NDList tables =
                new NDList(
                        manager.randomNormal(
                                new Shape((2L * window - 1) * (2L * window - 1), heads)));
        if (expand > 0) {
            long area = region.area();
            tables.add(manager.randomNormal(new Shape(1, heads, area, region.neighbors())));
        }
        for (int k = 0; k < levels; k++) {
            long reach = window + region.cells(k) - 1L;
            tables.add(manager.randomNormal(new Shape(heads, reach * reach)));
        }
        NDArray cotangent = manager.randomNormal(new Shape(heads, region.area(), region.keys()));
        NDList expected = results(FocalBias::portable, region, tables, cotangent);
        NDList actual = results(FocalBias::fused, region, tables, cotangent);
        for (int i = 0; i < expected.size(); i++) {
            assertEquals(expected.get(i).getShape(), actual.get(i).getShape());
            assertArrayEquals(
                    expected.get(i).toFloatArray(),
                    actual.get(i).toFloatArray(),
                    1e-5f,
                    "result " + i);
        }
    }

    /** An implementation. */
    private interface Form {
        NDArray lookUp(
                FocalRegion region,
                NDArray own,
                Optional<NDArray> neighbors,
                List<NDArray> windows);
    }

    /** Returns the biases and the gradients of the tables. */
    private static NDList results(Form form, FocalRegion region, NDList tables, NDArray cotangent) {
        boolean ring = region.expand() > 0;
        NDList results = new NDList();
        List<NDArray> leaves = tables.stream().map(NDArray::duplicate).toList();
        leaves.forEach(leaf -> leaf.setRequiresGradient(true));
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            NDArray bias =
                    form.lookUp(
                            region,
                            leaves.get(0),
                            ring ? Optional.of(leaves.get(1)) : Optional.empty(),
                            leaves.subList(ring ? 2 : 1, leaves.size()));
            collector.backward(bias.mul(cotangent).sum());
            results.add(bias.stopGradient());
        }
        leaves.forEach(leaf -> results.add(leaf.getGradient()));
        return results;
    }
}

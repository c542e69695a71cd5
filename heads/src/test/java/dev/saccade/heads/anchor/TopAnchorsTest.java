package dev.saccade.heads.anchor;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import static java.util.stream.IntStream.range;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.nn.Precision;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

class TopAnchorsTest {

    private static final List<Size> GRIDS = List.of(new Size(7, 9), new Size(4, 5), new Size(2, 1));

    private final NDManager manager = NDManager.newBaseManager("PyTorch");
    private final AnchorGenerator generator =
            new AnchorGenerator(
                    List.of(2.0, 3.0), List.of(0.5, 1.0, 2.0), true, 0.5, List.of(8, 16, 32));

    @BeforeEach
    void requireFusedOperators() {
        assumeTrue(Kernels.status().loaded(), "fused operators are off");
    }

    @AfterEach
    void close() {
        manager.close();
    }

    @ParameterizedTest
    @CsvSource({"1, 50, FLOAT32", "4, 50, FLOAT32", "17, 1000, FLOAT32", "4, 50, BFLOAT16"})
    void equalsThePortableSelection(int classes, int nmsPre, Precision precision) {
        List<NDList> maps = new ArrayList<>();
        for (Size grid : GRIDS) {
            maps.add(new NDList(map(6 * classes, grid, precision), map(24, grid, precision)));
        }
        TopAnchors fused = NoGrad.call(() -> TopAnchors.of(maps, generator, classes, nmsPre));
        TopAnchors portable = portable(maps, classes, nmsPre);
        assertEquals(portable.perLevel(), fused.perLevel());
        if (precision == Precision.FLOAT32) {
            assertEqual(portable.anchors(), fused.anchors());
            assertEqual(portable.deltas(), fused.deltas());
        }
        assertEqual(portable.scores().max(new int[] {2}), fused.scores().max(new int[] {2}));
    }

    /** Of equal logits, the first anchor comes first; NaN is largest. */
    @Test
    void ordersEqualLogitsByPositionAndNanFirst() {
        float[] logits = new float[12];
        logits[5] = Float.NaN;
        logits[7] = 1;
        logits[8] = -0f;
        logits[9] = Float.NEGATIVE_INFINITY;
        AnchorGenerator oneAnchor =
                new AnchorGenerator(List.of(1.0), List.of(1.0), true, 0, List.of(4));
        NDArray deltas = manager.zeros(new Shape(1, 4, 3, 4));
        NDList maps = new NDList(manager.create(logits, new Shape(1, 1, 3, 4)), deltas);
        TopAnchors top = NoGrad.call(() -> TopAnchors.of(List.of(maps), oneAnchor, 1, 5));
        float[] corners = top.anchors().toFloatArray();
        List<Integer> positions = new ArrayList<>();
        for (int i = 0; i < corners.length; i += 4) {
            positions.add((int) ((corners[i] + 2) / 4 + (corners[i + 1] + 2) / 4 * 4));
        }
        assertEquals(List.of(5, 7, 0, 1, 2), positions);
        assertEquals(Float.NaN, top.scores().toFloatArray()[0]);
    }

    private TopAnchors portable(List<NDList> maps, int classes, int nmsPre) {
        AnchorGrid grid = new AnchorGrid(manager, generator, GRIDS);
        List<NDList> levels = new ArrayList<>();
        for (int l = 0; l < maps.size(); l++) {
            NDArray logits = AnchorHead.rows(Tensors.toFloat32(maps.get(l).get(0)), classes);
            NDArray deltas = AnchorHead.rows(Tensors.toFloat32(maps.get(l).get(1)), 4);
            NDArray scores = Functional.sigmoid(logits);
            levels.add(TopAnchors.ofLevel(scores, deltas, grid.anchors(l), nmsPre));
        }
        return TopAnchors.concat(levels);
    }

    /** Returns a map of different numbers from -3 to 3, so that sigmoids differ too. */
    private NDArray map(int channels, Size grid, Precision precision) {
        Shape shape = new Shape(2, channels, grid.height(), grid.width());
        List<Integer> order = new ArrayList<>(range(0, (int) shape.size()).boxed().toList());
        Collections.shuffle(order, new Random(channels));
        float[] numbers = new float[order.size()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = 6f * order.get(i) / numbers.length - 3;
        }
        NDArray map = manager.create(numbers, shape);
        return precision == Precision.FLOAT32 ? map : Script.call("torch.to", map, 15);
    }

    private static void assertEqual(NDArray expected, NDArray actual) {
        assertEquals(expected.getShape(), actual.getShape());
        assertArrayEquals(expected.toFloatArray(), actual.toFloatArray(), 1e-6f);
    }
}

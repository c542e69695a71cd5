package dev.saccade.core.nn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.MultiplyAdds;

import org.junit.jupiter.api.Test;

import java.util.List;

class LayerProfileTest {

    @Test
    void listsLayersWithTheirOwnWork() {
        WeightInit random = WeightInit.uniform(1);
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            Sequential root = new Sequential();
            root.append("a", ConvModule.relu(new Geometry(3, 8, 3).padding(1), random))
                    .append("b", new Conv2d(new Geometry(8, 2, 1), random));
            root.initialize(manager, 0);
            root.train(false);
            NDArray x = manager.randomNormal(0, 1, new Shape(1, 3, 6, 4), DataType.FLOAT32);
            List<LayerProfile.Entry> entries =
                    LayerProfile.of(
                            () -> {
                                root.apply(x);
                                root.apply(x);
                            });
            assertEquals(
                    List.of("a.conv", "a", "b", ""),
                    entries.stream().map(LayerProfile.Entry::path).toList());
            LayerProfile.Entry conv = entries.get(0);
            assertEquals(2, conv.calls());
            assertEquals(List.of(1L, 8L, 6L, 4L), conv.output());
            assertEquals(2L * 24 * 8 * 3 * 9, conv.multiplyAdds());
            assertEquals(2L * 24 * (3 + 8) * 4, conv.bytes());
            assertEquals("float32", conv.precision());
            assertEquals(0, entries.get(1).multiplyAdds());
            root.fuse();
            List<Integer> calls =
                    LayerProfile.of(() -> root.apply(x)).stream()
                            .map(LayerProfile.Entry::calls)
                            .toList();
            assertEquals(List.of(1, 1, 1, 1), calls);
            assertEquals(0, entries.get(3).multiplyAdds());
            entries.forEach(entry -> assertTrue(entry.seconds() > 0, entry.path()));
            assertTrue(LayerProfile.of(() -> {}).isEmpty());
        }
    }

    @Test
    void joinsThePrecisionsOfCalls() {
        assumeTrue(Quantization.isFast(), "the processor lacks the products");
        WeightInit random = WeightInit.uniform(1);
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            Sequential root = new Sequential();
            root.append("a", ConvModule.relu(new Geometry(16, 32, 3).padding(1), random));
            root.initialize(manager, 0);
            root.train(false);
            Quantization.apply(root, List.of("a.conv"));
            NDArray large = manager.zeros(new Shape(1, 16, 64, 64));
            NDArray small = manager.zeros(new Shape(1, 16, 4, 4));
            List<LayerProfile.Entry> entries =
                    LayerProfile.of(
                            () -> {
                                root.apply(large);
                                root.apply(small);
                                root.apply(large);
                            });
            assertEquals("bfloat16+int8", entries.get(0).precision());
            assertEquals("float32", entries.get(1).precision());
        }
    }

    @Test
    void countsTheMultiplicationsOfWinogradConvolutions() {
        assumeTrue(Kernels.status().loaded(), "the portable operators do not use Winograd");
        WeightInit random = WeightInit.uniform(1);
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            Sequential root = new Sequential();
            root.append("a", ConvModule.relu(new Geometry(16, 32, 3).padding(1), random));
            root.initialize(manager, 0);
            root.train(false);
            root.fuse();
            NDArray x = manager.randomNormal(0, 1, new Shape(1, 16, 16, 16), DataType.FLOAT32);
            long direct = 16L * 16 * 16 * 32 * 9;
            assertEquals(direct, MultiplyAdds.count(() -> root.apply(x)));
            long computed =
                    LayerProfile.of(() -> root.apply(x)).stream()
                            .mapToLong(LayerProfile.Entry::multiplyAdds)
                            .sum();
            assertEquals(direct / 4, computed);
        }
    }
}

package dev.saccade.heads.box;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.config.Configs;
import dev.saccade.core.structures.Boxes;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BoxCoderTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    @Test
    void decodesTheSpecifiedBox() {
        BoxCoder coder = Configs.of(DeltaXywhBoxCoder.class, "target_stds=[0.1, 0.1, 0.2, 0.2]");
        NDArray box = Rows.of(manager, Boxes.of(10, 10, 50, 30));
        NDArray deltas = manager.create(new float[] {0.1f, -0.2f, 0.3f, -0.4f}, new Shape(1, 4));
        float[] expected = {9.1633f, 10.3688f, 51.6367f, 28.8312f};
        assertArrayEquals(expected, coder.decode(box, deltas).toFloatArray(), 1e-4f);
    }

    @Test
    void decodingUndoesEncoding() {
        BoxCoder coder =
                Configs.of(
                        DeltaXywhBoxCoder.class,
                        "target_means=[0.1, 0.0, -0.2, 0.3]",
                        "target_stds=[0.1, 0.1, 0.2, 0.2]");
        NDArray from = Rows.of(manager, Boxes.of(3, 4, 20, 40, 0, 0, 8, 8));
        NDArray to = Rows.of(manager, Boxes.of(5, 1, 30, 28, 2, 3, 4, 5));
        NDArray decoded = coder.decode(from, coder.encode(from, to));
        assertArrayEquals(to.toFloatArray(), decoded.toFloatArray(), 1e-4f);
    }

    @Test
    void handlesEmptyInput() {
        BoxCoder coder = Configs.of(DeltaXywhBoxCoder.class);
        NDArray none = Rows.of(manager, Boxes.empty());
        assertEquals(new Shape(0, 4), coder.encode(none, none).getShape());
        assertEquals(new Shape(0, 4), coder.decode(none, none).getShape());
    }

    @Test
    void decodesClassSpecificDeltas() {
        BoxCoder coder = Configs.of(DeltaXywhBoxCoder.class);
        NDArray boxes = Rows.of(manager, Boxes.of(3, 4, 20, 40, 0, 0, 8, 8));
        NDArray deltas = manager.randomUniform(-1, 1, new Shape(2, 3, 4));
        NDArray decoded = coder.decode(boxes.expandDims(1), deltas);
        assertEquals(new Shape(2, 3, 4), decoded.getShape());
        assertArrayEquals(
                coder.decode(boxes, deltas.get(":, 1")).toFloatArray(),
                decoded.get(":, 1").toFloatArray());
    }

    @Test
    void limitsTheSizeRatio() {
        BoxCoder coder = Configs.of(DeltaXywhBoxCoder.class);
        NDArray box = Rows.of(manager, Boxes.of(0, 0, 16, 16));
        NDArray deltas = manager.create(new float[] {0, 0, 30, -30}, new Shape(1, 4));
        Boxes decoded = Rows.boxes(coder.decode(box, deltas));
        assertEquals(1000, decoded.width(0), 1e-2f);
        assertEquals(16 * 16 / 1000f, decoded.height(0), 1e-4f);
        BoxCoder torchvision = Configs.of(DeltaXywhBoxCoder.class, "clip_shrinking=false");
        Boxes tiny = Rows.boxes(torchvision.decode(box, deltas));
        assertEquals(1000, tiny.width(0), 1e-2f);
        assertEquals(0, tiny.height(0), 1e-6f);
    }
}

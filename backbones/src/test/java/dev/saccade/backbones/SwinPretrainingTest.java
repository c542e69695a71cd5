package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.weights.LoadReport;
import dev.saccade.checkpoint.weights.Naming;
import dev.saccade.checkpoint.weights.Weights;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Module;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Loads a classifier with small windows into a dense backbone with large windows. */
class SwinPretrainingTest {

    private NDManager manager;

    @BeforeEach
    void open() {
        manager = NDManager.newBaseManager();
    }

    @AfterEach
    void close() {
        manager.close();
    }

    /** A classifier with smaller windows and images, as saved by the official code. */
    private Map<String, Tensor> pretraining() {
        Module swin = Stored.swin(4);
        swin.initialize(manager, 1);
        Map<String, Tensor> tensors = new LinkedHashMap<>(Checkpoint.of(swin, Map.of()).tensors());
        tensors.keySet().removeIf(name -> name.matches("norm\\d.*"));
        Shape shape = new Shape(1, 16, 4);
        tensors.put(
                "absolute_pos_embed",
                new Tensor(ElementType.FLOAT32, shape, tensors.get("absolute_pos_embed").data()));
        tensors.put("layers.0.blocks.1.attn_mask", Stored.ones(new Shape(4, 16, 16)));
        tensors.put("norm.weight", Stored.ones(new Shape(32)));
        tensors.put("head.weight", Stored.ones(new Shape(10, 32)));
        return new LinkedHashMap<>(
                Naming.of("official").fromSaccade(new Checkpoint(tensors, Map.of())).tensors());
    }

    @Test
    void loadsAClassifierWithOtherWindows() {
        Map<String, Tensor> tensors = pretraining();
        String odd = "layers.2.blocks.0.attn.relative_position_bias_table";
        tensors.put(odd, Stored.ones(new Shape(49, 3)));
        Module swin = Stored.swin(7);
        swin.initialize(manager, 2);
        Checkpoint before = Checkpoint.of(swin, Map.of());

        LoadReport report = Weights.initialize(new Checkpoint(tensors, Map.of()), swin);

        assertEquals(
                List.of("norm0.weight", "norm0.bias", "norm1.weight", "norm1.bias"),
                report.newParameters().subList(0, 4));
        assertEquals(8, report.newParameters().size());
        assertEquals(List.of(), report.missing());
        assertEquals(List.of(), report.unexpected());
        assertEquals(List.of(odd), report.names().get(LoadReport.Status.SHAPE_MISMATCH));
        assertEquals("got (49, 3), expected (169, 4)", report.details().get(odd));
        List<String> resized = report.names().get(LoadReport.Status.RESIZED);
        assertEquals(5, resized.size(), "an embedding and four of five blocks");
        assertEquals("layers.3.blocks.0.attn.relative_position_bias_table", resized.get(4));
        Checkpoint after = Checkpoint.of(swin, Map.of());
        assertEquals(before.tensors().get(odd), after.tensors().get(odd));
        assertEquals(
                tensors.get("layers.1.downsample.reduction.weight"),
                after.tensors().get("layers.1.downsample.reduction.weight"));
        String text = report.toString();
        assertTrue(text.contains("initialized from the config: 8"), text);
        assertTrue(text.contains("from (49, 8) to (169, 8), bicubic"), text);
        assertTrue(text.contains("*.relative_position_index (5)"), text);
    }

    @Test
    void restoringDoesNotResize() {
        Module swin = Stored.swin(7);
        swin.initialize(manager, 2);
        Checkpoint checkpoint = new Checkpoint(pretraining(), Map.of());

        String message =
                assertThrows(SaccadeException.class, () -> Weights.restore(checkpoint, swin))
                        .getMessage();

        assertTrue(message.contains("got (49, 8), expected (169, 8)"), message);
    }

    @Test
    void integerTensorsAreNotPositionTables() {
        Map<String, Tensor> tensors = pretraining();
        String table = "layers.2.blocks.0.attn.relative_position_bias_table";
        tensors.put(
                table,
                new Tensor(
                        ElementType.INT32, tensors.get(table).shape(), tensors.get(table).data()));
        Module swin = Stored.swin(7);
        swin.initialize(manager, 2);

        String message =
                assertThrows(
                                SaccadeException.class,
                                () -> Weights.initialize(new Checkpoint(tensors, Map.of()), swin))
                        .getMessage();

        assertTrue(message.contains("got integers for " + table), message);
    }
}

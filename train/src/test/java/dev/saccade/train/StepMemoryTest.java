package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.engine.EngineException;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.config.Configs;
import dev.saccade.core.Libtorch;
import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.structures.Size;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Compares estimates from small images with steps on larger ones. */
class StepMemoryTest {

    private static final String SWIN =
            "model.backbone={type: swin, embed_dim: 24, depths: [2, 2, 2, 2], num_heads: [1, 2, 4,"
                    + " 8]}";

    private static final Size SIZE = new Size(256, 352);
    private static final int IMAGES = 4;
    private static final int CLASSES = 3;

    private static long measured(RunConfig config, int images, Size size) {
        try (TrialRun run = new TrialRun(config, CLASSES, Device.cpu())) {
            return run.peakBytes(images, size);
        }
    }

    private static void assertNear(long expected, long estimated, String what) {
        assertTrue(
                Math.abs(expected - estimated) < 0.15 * expected,
                what + ": " + estimated + ", measured " + expected);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{neck: {type: fpn, out_channels: 32}, head: {type: retinanet, feat_channels: 32}}",
                "{head: {type: upernet, channels: 32}}"
            })
    void estimatesTheMemoryOfAStep(String model) {
        RunConfig config =
                Configs.of(RunConfig.class, "model=" + model, SWIN, "optimizer={type: adamw}");
        StepMemory.Estimate step =
                new StepMemory(Device.cpu(), CLASSES, IMAGES, SIZE).estimate(config).orElseThrow();
        assertNear(measured(config, IMAGES, SIZE), step.bytes(), "as it is");
        List<StepMemory.Saving> savings = step.savings();
        for (StepMemory.Saving saving : savings) {
            assertTrue(saving.bytes() < step.bytes(), saving.toString());
            if (saving.setting().startsWith("data.batch_size=2 ")) {
                assertNear(measured(config, 2, SIZE), saving.bytes(), saving.setting());
            } else if (saving.setting().startsWith("half the")) {
                Size half = new Size(SIZE.height() / 2, SIZE.width());
                assertNear(measured(config, IMAGES, half), saving.bytes(), saving.setting());
            } else {
                RunConfig changed = config.with(saving.setting());
                assertNear(measured(changed, IMAGES, SIZE), saving.bytes(), saving.setting());
            }
        }
        assertEquals(Kernels.status().loaded() ? 5 : 4, savings.size(), step.toString());
    }

    private static final String CONFIG =
            """
            model:
              backbone: {type: swin, embed_dim: 8, depths: [1, 1, 1, 1], num_heads: [1, 1, 1, 1]}
              neck: {type: fpn, out_channels: 16, num_outs: 5}
              head: {type: retinanet, feat_channels: 16, stacked_convs: 1}
            data:
              batch_size: 2
              workers: 1
              train_transforms: [{type: normalize}, {type: pad}]
            schedule: {type: constant}
            """;

    private static final long PETABYTE = 1L << 50;

    private static final StepMemory SHORTAGE =
            new StepMemory(Device.cpu(), 2, 8, new Size(800, 1344));

    private static RuntimeException refusal() {
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            return assertThrows(
                    EngineException.class, () -> manager.zeros(new Shape(PETABYTE / 4)));
        }
    }

    @Test
    void explainsRequiredMemoryAndSavings() {
        List<String> notes = new ArrayList<>();
        SaccadeException told =
                SHORTAGE.explain(refusal(), RunConfig.parse(CONFIG), notes::add).orElseThrow();
        assertEquals(1, notes.size(), notes.toString());
        assertEquals(SaccadeException.Kind.USER, told.kind());
        List<String> lines = told.getMessage().lines().toList();
        String first = lines.get(0);
        assertTrue(first.startsWith("out of memory: a step on 8 x 800x1344 needs about "), first);
        assertTrue(first.contains(", but cpu has "), first);
        assertTrue(first.contains(", tensors used "), first);
        assertTrue(first.contains("allocate " + PETABYTE), first);
        assertTrue(first.endsWith("estimates with other settings:"), first);
        String rest = String.join("\n", lines.subList(1, lines.size()));
        assertTrue(rest.contains(" with data.batch_size=4 and accumulation=2"), rest);
        assertTrue(rest.contains(" with model.backbone.activation_checkpointing=true"), rest);
        assertTrue(rest.contains(" with half the pixels"), rest);
    }

    @Test
    void otherErrorsAreNotExplained() {
        RunConfig config = RunConfig.parse(CONFIG);
        RuntimeException bug = new IllegalStateException("a bug");
        assertEquals(Optional.empty(), SHORTAGE.explain(bug, config, Assertions::fail));
        RuntimeException heap = new IllegalStateException(new OutOfMemoryError("Java heap space"));
        assertEquals(Optional.empty(), SHORTAGE.explain(heap, config, Assertions::fail));
        RuntimeException known = OutOfMemory.LOADING.of(refusal()).orElseThrow();
        assertEquals(Optional.empty(), SHORTAGE.explain(known, config, Assertions::fail));
    }
}

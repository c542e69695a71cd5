package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;

import dev.saccade.config.Configs;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.structures.Size;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;

/** Estimates of small images held against steps on larger ones. */
class StepMemoryTest {

    private static final String SWIN =
            "model.backbone={type: swin, embed_dim: 24, depths: [2, 2, 2, 2], num_heads: [1, 2, 4,"
                    + " 8]}";

    private static final Size SIZE = new Size(384, 512);
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
    void whatIsEstimatedIsWhatAStepTakes(String model) {
        RunConfig config =
                Configs.of(RunConfig.class, "model=" + model, SWIN, "optimizer={type: adamw}");
        StepMemory step = StepMemory.measure(config, CLASSES, IMAGES, SIZE).orElseThrow();
        assertNear(measured(config, IMAGES, SIZE), step.bytes(), "as it is");
        List<StepMemory.Saving> savings = step.savings();
        for (StepMemory.Saving saving : savings) {
            assertTrue(saving.bytes() < step.bytes(), saving.toString());
            if (saving.setting().startsWith("data.batch_size=2,")) {
                assertNear(measured(config, 2, SIZE), saving.bytes(), saving.setting());
            } else if (saving.setting().startsWith("images of half")) {
                Size half = new Size(SIZE.height() / 2, SIZE.width());
                assertNear(measured(config, IMAGES, half), saving.bytes(), saving.setting());
            } else {
                RunConfig changed = config.with(saving.setting());
                assertNear(measured(changed, IMAGES, SIZE), saving.bytes(), saving.setting());
            }
        }
        assertEquals(Kernels.status().loaded() ? 5 : 4, savings.size(), step.toString());
    }
}

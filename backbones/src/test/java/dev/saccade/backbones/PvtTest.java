package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.Shape;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.MultiplyAdds;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Arrays;
import java.util.List;

class PvtTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    @ParameterizedTest
    @CsvSource({
        "tiny, 12714752",
        "small, 23971328",
        "medium, 43693568",
        "large, 60854784",
    })
    void hasThePublishedNumberOfParameters(String variant, long parameters) {
        long learned =
                new Pvt(Configs.of(Pvt.Config.class, "variant=" + variant))
                        .namedParameters().values().stream()
                                .filter(parameter -> !Module.isBuffer(parameter))
                                .mapToLong(parameter -> parameter.getShape().size())
                                .sum();
        assertEquals(parameters, learned);
    }

    @ParameterizedTest
    @CsvSource({"small, 3.8e9", "medium, 6.7e9", "large, 9.8e9"})
    void countsTheMultiplyAddsOfThePaper(String variant, double published) {
        Pvt pvt = new Pvt(Configs.of(Pvt.Config.class, "variant=" + variant));
        pvt.initialize(manager, 0);
        NDArray image = manager.ones(new Shape(1, 3, 224, 224));
        long count = MultiplyAdds.count(() -> NoGrad.call(() -> pvt.apply(image)));
        assertEquals(published, (double) count, 0.06e9);
    }

    @Test
    void initializesAsTheOriginal() {
        Pvt pvt = new Pvt(Configs.of(Pvt.Config.class, "variant=tiny"));
        pvt.initialize(manager, 0);
        pvt.namedParameters()
                .forEach(
                        (name, parameter) -> {
                            NDArray values = parameter.getArray();
                            double std = values.square().mean().sqrt().getFloat();
                            if (name.startsWith("pos_embed") || name.matches(LINEAR + "weight")) {
                                assertEquals(0.02, std, 0.001, name);
                            } else if (name.matches(LINEAR + "bias")
                                    || name.matches(NORM + "bias")) {
                                assertEquals(0, std, name);
                            } else if (name.matches(NORM + "weight")) {
                                assertEquals(1, std, name);
                            } else {
                                Shape kernel =
                                        pvt.namedParameters()
                                                .get(name.replace("bias", "weight"))
                                                .getShape();
                                double bound = Math.sqrt(1.0 / kernel.slice(1).size());
                                assertEquals(
                                        bound, values.abs().max().getFloat(), 0.1 * bound, name);
                                assertEquals(bound / Math.sqrt(3), std, 0.1 * bound, name);
                            }
                        });
    }

    private static final String LINEAR = ".*\\.(q|kv|attn\\.proj|fc1|fc2)\\.";
    private static final String NORM = ".*\\.norm\\d?\\.";

    /** Rows and columns that do not fill a patch are cropped. */
    @Test
    void floorsOddSizes() {
        List<NDArray> levels = features(new Shape(2, 3, 97, 131));
        assertEquals(new Shape(2, 8, 24, 32), levels.get(0).getShape());
        assertEquals(new Shape(2, 8, 12, 16), levels.get(1).getShape());
        assertEquals(new Shape(2, 8, 6, 8), levels.get(2).getShape());
        assertEquals(new Shape(2, 8, 3, 4), levels.get(3).getShape());
    }

    /** The table of stage 4 is 2x2 after the class token, here resized to 3x4. */
    @Test
    void resizesPositionsWithoutTheClassToken() {
        Layer embedding = zeroed(Pvt.embedding(config(), 3));
        NDArray table = embedding.namedParameters().get("pos_embed4").getArray();
        table.set(new NDIndex(":, 0"), 1000);
        table.set(new NDIndex(":, 1"), 8);
        NDArray out = NoGrad.call(() -> embedding.apply(manager.ones(new Shape(1, 6, 8, 8))));
        assertArrayEquals(
                new float[] {8, 6, 2, 0, 4, 3, 1, 0, 0, 0, 0, 0},
                out.get(":, :, :, 0").toFloatArray(),
                1e-5f);
    }

    /**
     * The original does not resize the table of the first stage for maps with the same number of
     * tokens.
     */
    @Test
    void doesNotResizeTheFirstTableForTheSameNumberOfTokens() {
        Layer embedding = zeroed(Pvt.embedding(config(), 0));
        NDArray table = embedding.namedParameters().get("pos_embed1").getArray();
        NDArray rows = manager.arange(256f).reshape(1, 256, 1);
        table.addi(rows);
        NDArray out = NoGrad.call(() -> embedding.apply(manager.ones(new Shape(1, 3, 32, 128))));
        assertEquals(new Shape(1, 8, 32, 8), out.getShape());
        assertArrayEquals(
                rows.toFloatArray(), out.get(":, :, :, 3").flatten().toFloatArray(), 1e-5f);
    }

    private <M extends Module> M zeroed(M module) {
        module.initialize(manager, 0);
        module.namedParameters().values().forEach(parameter -> parameter.getArray().muli(0));
        return module;
    }

    @Test
    void sameSeedGivesTheSameInitialization() {
        float[] first = values(7);
        assertArrayEquals(first, values(7));
        assertFalse(Arrays.equals(first, values(8)));
    }

    private float[] values(long seed) {
        Pvt pvt = new Pvt(config());
        pvt.initialize(manager, seed);
        return pvt.namedParameters().get("pos_embed3").getArray().toFloatArray();
    }

    @Test
    void rejectsInvalidSettings() {
        Exception e = assertThrows(SaccadeException.class, () -> config(List.of(3, 1, 1, 1)));
        assertTrue(
                e.getMessage().contains("num_heads: got [3, 1, 1, 1], expected"), e.getMessage());
    }

    private List<NDArray> features(Shape images) {
        Pvt pvt = new Pvt(config());
        pvt.initialize(manager, 0);
        return NoGrad.call(() -> pvt.apply(manager.ones(images))).levels();
    }

    private static Pvt.Config config() {
        return config(List.of(1, 2, 2, 4));
    }

    private static Pvt.Config config(List<Integer> heads) {
        return Configs.of(
                Pvt.Config.class,
                "variant=tiny",
                "embed_dims=[8, 8, 8, 8]",
                "depths=[1, 1, 1, 1]",
                "num_heads=" + heads,
                "mlp_ratios=[2, 2, 2, 2]",
                "pretrain_img_size=64",
                "drop_path_rate=0");
    }
}

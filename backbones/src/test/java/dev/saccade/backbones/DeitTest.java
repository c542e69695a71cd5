package dev.saccade.backbones;

import static dev.saccade.backbones.Member.assertClose;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.Shape;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.memory.NoGrad;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Arrays;
import java.util.SplittableRandom;

class DeitTest {

    private static final int CLASSES = 1000;

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    private static Deit.Config config(String... settings) {
        return Configs.of(Deit.Config.class, settings);
    }

    /** Millions as in Table 3 of the paper on dynamic convolutions. */
    @ParameterizedTest
    @CsvSource({
        "tiny, 5.717",
        "small, 22.051",
        "small_scaling, 22.051",
        "small_depthwise, 20.277",
        "small_rel, 22.028",
        "small_rel_scaling, 22.028",
        "small_rel_depthwise, 20.253",
        "base, 86.568",
        "base_rel, 86.521",
        "base_rel_depthwise, 79.434"
    })
    void hasThePublishedNumberOfParameters(String variant, double millions) {
        Deit deit = config("variant=" + variant).build();
        long channels = deit.features().get(0).channels();
        long classifier = deit.parameterCount() + 2 * channels + (channels + 1) * CLASSES;
        assertEquals(millions, classifier / 1e6, 5e-4);
    }

    /** The cells that are nearest in the table keep their bias; the class token has none. */
    @Test
    void looksUpTheBiasOfPairs() {
        TokenGrid grid = new TokenGrid(2, true);
        NDArray table = manager.arange(9f).reshape(9, 1);
        NDArray pairs = grid.pairs(table, manager.zeros(new Shape(1, 1, 5, 1)));
        assertEquals(new Shape(1, 5, 5), pairs.getShape());
        assertEquals(0, pairs.get("0, 0").sum().getFloat());
        assertEquals(0, pairs.get("0, :, 0").sum().getFloat());
        assertEquals(4, pairs.getFloat(0, 1, 1));
        // The query is in row 1 and column 1, the key in row 0 and column 0.
        assertEquals(8, pairs.getFloat(0, 4, 1));
    }

    @Test
    void cropsTheBiasForSmallerAndInterpolatesItForLargerMaps() {
        TokenGrid grid = new TokenGrid(2, false);
        NDArray table = manager.full(new Shape(9, 3), 2f);
        for (Shape map : new Shape[] {new Shape(1, 1, 2, 1), new Shape(1, 3, 4, 1)}) {
            NDArray pairs = grid.pairs(table, manager.zeros(map));
            long tokens = map.size();
            assertClose(manager.full(new Shape(3, tokens, tokens), 2f), pairs);
        }
    }

    @Test
    void interpolatesThePositionsOfCells() {
        TokenGrid grid = new TokenGrid(2, true);
        NDArray table = manager.full(new Shape(1, 5, 2), 3f);
        table.set(new NDIndex(":, 0"), 7);
        NDArray positions = grid.positions(table, manager.zeros(new Shape(1, 3, 4, 2)));
        assertEquals(new Shape(1, 13, 2), positions.getShape());
        assertEquals(7, positions.getFloat(0, 0, 0));
        assertClose(manager.full(new Shape(1, 12, 2), 3f), positions.get(":, 1:"));
    }

    /** Scaling by 1 / sqrt(d) without softmax, written out. */
    @Test
    void attendsWithoutSoftmax() {
        Deit.Config config =
                config("attention=none", "embed_dim=8", "num_heads=2", "img_size=32", GAP);
        DeitAttention attention = DeitAttention.of(config);
        attention.initialize(manager, 0);
        NDArray x =
                WeightInit.normal(1)
                        .create(manager, new Shape(1, 2, 2, 8), new SplittableRandom(1));
        NDArray actual = NoGrad.call(() -> attention.apply(x));
        NDArray qkv =
                x.reshape(4, 8)
                        .matMul(weight(attention, "qkv").transpose())
                        .reshape(4, 3, 2, 4)
                        .transpose(1, 2, 0, 3);
        NDArray filters = qkv.get(0).matMul(qkv.get(1).swapAxes(1, 2)).div(2);
        NDArray mixed = filters.matMul(qkv.get(2)).transpose(1, 0, 2).reshape(4, 8);
        NDArray expected = mixed.matMul(weight(attention, "proj").transpose());
        assertClose(expected.reshape(1, 2, 2, 8), actual);
    }

    /** {@code (q k^T / sqrt(d) + bias) v}, written out. */
    @Test
    void linearizedAttentionAddsTheBias() {
        String[] settings = {"attention=none", "embed_dim=8", "num_heads=2", "img_size=32", GAP};
        Deit.Config config =
                config(with(with(settings, "relative_position_bias=true"), "ape=false"));
        DeitAttention attention = DeitAttention.of(config);
        attention.initialize(manager, 0);
        NDArray x =
                WeightInit.normal(1)
                        .create(manager, new Shape(1, 2, 2, 8), new SplittableRandom(1));
        NDArray actual = NoGrad.call(() -> attention.apply(x));
        NDArray table = attention.namedParameters().get("relative_position_bias_table").getArray();
        NDArray qkv =
                x.reshape(4, 8)
                        .matMul(weight(attention, "qkv").transpose())
                        .reshape(4, 3, 2, 4)
                        .transpose(1, 2, 0, 3);
        NDArray filters = qkv.get(0).matMul(qkv.get(1).swapAxes(1, 2)).div(2);
        NDArray mixed =
                filters.add(config.grid().pairs(table, x))
                        .matMul(qkv.get(2))
                        .transpose(1, 0, 2)
                        .reshape(4, 8);
        NDArray expected = mixed.matMul(weight(attention, "proj").transpose());
        assertClose(expected.reshape(1, 2, 2, 8), actual);
    }

    private static NDArray weight(DeitAttention attention, String layer) {
        return attention.namedParameters().get(layer + ".weight").getArray();
    }

    /** Without position bias, both implementations of softmax attention agree. */
    @Test
    void fusedAttentionEqualsDenseAttention() {
        String[] small = {"embed_dim=8", "num_heads=2", "img_size=32", "ape=false", "depth=1"};
        Deit fused = config(small).build();
        fused.initialize(manager, 0);
        Deit dense = config(with(small, "relative_position_bias=true")).build();
        dense.initialize(manager, 1);
        dense.namedParameters()
                .forEach(
                        (name, parameter) -> {
                            if (name.endsWith("_table")) {
                                parameter.getArray().muli(0);
                            } else {
                                NDArray value = fused.namedParameters().get(name).getArray();
                                value.copyTo(parameter.getArray());
                            }
                        });
        NDArray images =
                WeightInit.normal(1)
                        .create(manager, new Shape(2, 3, 32, 32), new SplittableRandom(1));
        fused.train(false);
        dense.train(false);
        assertClose(
                NoGrad.call(() -> fused.apply(images)).get(0),
                NoGrad.call(() -> dense.apply(images)).get(0));
    }

    /** A ghost head that is 0 only splits each head in two. */
    @Test
    void ghostHeadOfZerosChangesNothing() {
        String[] small = {"embed_dim=8", "num_heads=2", "img_size=32", GAP};
        DeitAttention plain = DeitAttention.of(config(small));
        plain.initialize(manager, 0);
        DeitAttention ghost = DeitAttention.of(config(with(small, "ghost_head=true")));
        ghost.initialize(manager, 0);
        ghost.namedParameters()
                .forEach(
                        (name, parameter) -> {
                            if (name.equals("ghost_head")) {
                                assertEquals(new Shape(9, 4), parameter.getShape());
                                parameter.getArray().muli(0);
                            } else {
                                NDArray value = plain.namedParameters().get(name).getArray();
                                value.copyTo(parameter.getArray());
                            }
                        });
        NDArray x =
                WeightInit.normal(1)
                        .create(manager, new Shape(1, 2, 2, 8), new SplittableRandom(1));
        assertClose(NoGrad.call(() -> plain.apply(x)), NoGrad.call(() -> ghost.apply(x)));
    }

    @Test
    void rejectsMapsThatAreNotSquareIfAClassTokenHidesTheirShape() {
        Deit deit = config("variant=small_rel", "embed_dim=12", "depth=1", "img_size=32").build();
        deit.initialize(manager, 0);
        NDArray images = manager.zeros(new Shape(1, 3, 32, 48));
        Exception e = assertThrows(SaccadeException.class, () -> deit.apply(images));
        assertTrue(e.getMessage().contains("got a map of 2x3, expected a square one"));
    }

    @Test
    void rejectsInvalidSettings() {
        for (String[] settings :
                new String[][] {
                    {"num_heads=7"},
                    {"ghost_head=true"},
                    {"ghost_head=true", GAP, "attention=depthwise"},
                    {"ghost_head=true", GAP, "embed_dim=6"}
                }) {
            assertThrows(SaccadeException.class, () -> config(settings));
        }
    }

    private static final String GAP = "cls_token=false";

    private static String[] with(String[] settings, String more) {
        String[] all = Arrays.copyOf(settings, settings.length + 1);
        all[settings.length] = more;
        return all;
    }
}

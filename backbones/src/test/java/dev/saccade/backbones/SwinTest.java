package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Autograd;
import dev.saccade.core.nn.SampleRandom;
import dev.saccade.core.ops.attention.Windows.Order;
import dev.saccade.core.ops.memory.NoGrad;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.Locale;

class SwinTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    /** If windows fit the map and there is more than one, timm and the official code agree. */
    @ParameterizedTest
    @CsvSource({"112, 0", "100, 1"})
    void timmsOrderDiffersOnlyWhereMapsArePadded(int side, int differing) {
        NDArray image = manager.randomNormal(new Shape(1, 3, side, side));
        NDArray official = features(Order.PAD_THEN_SHIFT, image);
        NDArray timm = features(Order.SHIFT_THEN_PAD, image);
        double deviation = official.sub(timm).abs().max().getFloat();
        assertEquals(differing == 1, deviation > 1e-3, "deviates by " + deviation);
    }

    /** In timm's order, a map smaller than the window is one window. */
    @Test
    void timmsWindowsShrinkToSmallMaps() {
        NDArray map = features(Order.SHIFT_THEN_PAD, manager.ones(new Shape(1, 3, 20, 8)));
        assertEquals(new Shape(1, 16, 3, 1), map.getShape());
        assertTrue(Float.isFinite(map.sum().getFloat()));
    }

    /** Includes branches for outputs, drop path and down-sampling between the checkpoints. */
    @Test
    void recomputesBlocksForTheSameGradients() {
        NDArray image = manager.randomNormal(new Shape(2, 3, 61, 70));
        List<float[]> kept = gradients(false, image);
        List<float[]> recomputed = gradients(true, image);
        for (int i = 0; i < kept.size(); i++) {
            assertArrayEquals(kept.get(i), recomputed.get(i), 1e-5f);
        }
    }

    private List<float[]> gradients(boolean activationCheckpointing, NDArray image) {
        Swin swin = build(Order.PAD_THEN_SHIFT, 0.5, List.of(0, 1, 3), activationCheckpointing);
        List<NDArray> parameters =
                swin.namedParameters().values().stream().map(Parameter::getArray).toList();
        return SampleRandom.call(
                        1,
                        1,
                        new long[] {3, 4},
                        () ->
                                Autograd.gradients(
                                        () ->
                                                swin.apply(image).levels().stream()
                                                        .map(level -> level.mul(level).mul(level))
                                                        .map(NDArray::sum)
                                                        .reduce(NDArray::add)
                                                        .orElseThrow(),
                                        parameters))
                .stream()
                .map(NDArray::toFloatArray)
                .toList();
    }

    /**
     * Token 8 of row 5 is in the window next to the changed corner and shares a shifted window with
     * it.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void onlyShiftedWindowsExchangeTokens(boolean useShift) {
        Swin swin =
                new Swin(
                        Configs.of(
                                Swin.Config.class,
                                "embed_dim=8",
                                "depths=[2, 1, 1, 1]",
                                "num_heads=[1, 2, 4, 8]",
                                "out_indices=[0]",
                                "use_shift=" + useShift));
        swin.initialize(manager, 0);
        swin.train(false);
        NDArray image = manager.randomNormal(new Shape(1, 3, 56, 56));
        NDArray other = image.duplicate();
        other.set(new NDIndex(":, :, :4, :4"), 9);
        NDArray difference =
                NoGrad.call(() -> swin.apply(image))
                        .get(0)
                        .sub(NoGrad.call(() -> swin.apply(other)).get(0))
                        .abs();
        assertTrue(difference.get("0, :, 5, 5").max().getFloat() > 0);
        assertEquals(useShift, difference.get("0, :, 5, 8").max().getFloat() > 0);
    }

    /** The last token depends on a corner of the image that is many windows away. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theGlobalBlockSeesTheWholeMap(boolean globalBlock) {
        Swin swin =
                new Swin(
                        Configs.of(
                                Swin.Config.class,
                                "embed_dim=8",
                                "depths=[1, 1, 1, 1]",
                                "num_heads=[1, 2, 4, 8]",
                                "out_indices=[3]",
                                "global_block=" + globalBlock));
        swin.initialize(manager, 0);
        swin.train(false);
        NDArray image = manager.randomNormal(new Shape(1, 3, 480, 512));
        NDArray other = image.duplicate();
        other.set(new NDIndex(":, :, :4, :4"), 9);
        double change = lastToken(swin, image).sub(lastToken(swin, other)).abs().max().getFloat();
        assertEquals(globalBlock, change > 0, "changes by " + change);
        assertEquals(
                globalBlock, swin.namedParameters().containsKey("global_block.attn.kv.weight"));
    }

    private static NDArray lastToken(Swin swin, NDArray image) {
        return NoGrad.call(() -> swin.apply(image)).levels().get(0).get("0, :, 14, 15");
    }

    @Test
    void rejectsInvalidSettings() {
        Exception e =
                assertThrows(
                        SaccadeException.class,
                        () -> Configs.of(Swin.Config.class, "variant=huge"));
        String message =
                "variant: unknown variant huge (known: tiny, small, base, large, base_w12,";
        assertTrue(e.getMessage().contains(message), e.getMessage());
    }

    private NDArray features(Order order, NDArray image) {
        Swin swin = build(order, 0, List.of(1), false);
        swin.namedParameters()
                .forEach(
                        (name, parameter) -> {
                            if (name.endsWith("table") || name.endsWith("qkv.weight")) {
                                parameter.getArray().muli(20);
                            }
                        });
        swin.train(false);
        return NoGrad.call(() -> swin.apply(image)).levels().get(0);
    }

    private Swin build(
            Order order,
            double dropPathRate,
            List<Integer> outIndices,
            boolean activationCheckpointing) {
        Swin swin =
                new Swin(
                        Configs.of(
                                Swin.Config.class,
                                "embed_dim=8",
                                "depths=[2, 2, 1, 1]",
                                "num_heads=[1, 2, 4, 8]",
                                "window_order=" + order.name().toLowerCase(Locale.ROOT),
                                "drop_path_rate=" + dropPathRate,
                                "out_indices=" + outIndices,
                                "activation_checkpointing=" + activationCheckpointing));
        swin.initialize(manager, 0);
        return swin;
    }
}

package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.NoGrad;
import dev.saccade.core.ops.Windows.Order;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;

class SwinTest {

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    /** Where windows fit the map and there is more than one, timm and the official code agree. */
    @ParameterizedTest
    @CsvSource({"112, 0", "100, 1"})
    void timmsOrderDiffersOnlyWhereMapsArePadded(int side, int differing) {
        NDArray image = manager.randomNormal(new Shape(1, 3, side, side));
        NDArray official = features(Order.PAD_THEN_SHIFT, image);
        NDArray timm = features(Order.SHIFT_THEN_PAD, image);
        double deviation = official.sub(timm).abs().max().getFloat();
        assertEquals(differing == 1, deviation > 1e-3, "deviates by " + deviation);
    }

    /** A map smaller than the window is one window of its own size in timm's order. */
    @Test
    void timmsWindowsShrinkToSmallMaps() {
        NDArray map = features(Order.SHIFT_THEN_PAD, manager.ones(new Shape(1, 3, 20, 8)));
        assertEquals(new Shape(1, 16, 3, 1), map.getShape());
        assertTrue(Float.isFinite(map.sum().getFloat()));
    }

    @Test
    void saysWhatIsWrong() {
        Exception e = assertThrows(IllegalArgumentException.class, () -> new Swin.Config("huge"));
        assertEquals(
                "variant: got huge, expected one of [tiny, small, base, large, base_w12, large_w12]",
                e.getMessage());
    }

    private NDArray features(Order order, NDArray image) {
        Swin swin =
                new Swin(
                        new Swin.Config(
                                "tiny",
                                8,
                                List.of(2, 2, 1, 1),
                                List.of(1, 2, 4, 8),
                                7,
                                order,
                                4,
                                true,
                                true,
                                false,
                                224,
                                0,
                                List.of(1),
                                -1,
                                false));
        swin.initialize(manager, 0);
        swin.namedParameters()
                .forEach(
                        (name, parameter) -> {
                            if (name.endsWith("table") || name.endsWith("qkv.weight")) {
                                parameter.getArray().muli(20);
                            }
                        });
        swin.train(false);
        return NoGrad.call(() -> swin.forward(image)).levels().get(0);
    }
}

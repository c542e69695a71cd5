package dev.saccade.core.nn;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BatchNorm2dTest {

    private static final int[] AXIS = {1};

    private final NDManager manager = NDManager.newBaseManager("PyTorch");
    private final BatchNorm2d norm = new BatchNorm2d(3);

    @AfterEach
    void free() {
        manager.close();
    }

    @Test
    void trainingGivesEachChannelMeanZeroAndVarianceOne() {
        norm.initialize(manager, 0);
        NDArray y = norm.forward(manager.randomNormal(new Shape(4, 3, 6, 7)).mul(2).add(5));
        NDArray channels = y.transpose(1, 0, 2, 3).reshape(3, -1);
        assertEquals(0, channels.mean(AXIS).abs().max().getFloat(), 1e-5);
        assertEquals(1, channels.square().mean(AXIS).min().getFloat(), 1e-3);
        assertEquals(1, channels.square().mean(AXIS).max().getFloat(), 1e-3);
    }

    @Test
    void oneValueAChannelCannotBeTrained() {
        norm.initialize(manager, 0);
        NDArray pooled = manager.randomNormal(new Shape(1, 3, 1, 1));
        SaccadeException e = assertThrows(SaccadeException.class, () -> norm.forward(pooled));
        assertEquals(SaccadeException.Kind.USER, e.kind());
        assertTrue(e.getMessage().contains("at least 2 images a batch"), e.getMessage());
        norm.train(false);
        assertEquals(pooled.getShape(), norm.forward(pooled).getShape());
    }
}

package dev.saccade.core.ops.memory;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import ai.djl.engine.EngineException;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.jni.JniUtils;
import ai.djl.training.GradientCollector;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

class NoGradTest {

    /** The thread that starts the engine does not record gradients, so tests need other threads. */
    @BeforeAll
    static void startEngine() {
        Engine.getEngine("PyTorch");
    }

    @Test
    void disablesGradientsInNewThreads() throws Exception {
        assertTrue(inFreshThread(NoGradTest::records));
        assertFalse(inFreshThread(() -> NoGrad.call(NoGradTest::records)));
    }

    @Test
    void restoresTheModeOfTheThread() throws Exception {
        assertTrue(
                inFreshThread(
                        () -> {
                            NoGrad.run(() -> {});
                            return JniUtils.isGradMode();
                        }));
    }

    private static boolean records() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDArray x = manager.ones(new Shape(2));
            x.setRequiresGradient(true);
            NDArray y = x.mul(2).sum();
            try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
                collector.backward(y);
                return true;
            } catch (EngineException e) {
                return false;
            }
        }
    }

    private static boolean inFreshThread(Callable<Boolean> body)
            throws InterruptedException, ExecutionException {
        FutureTask<Boolean> task = new FutureTask<>(body);
        new Thread(task, "fresh").start();
        return task.get();
    }
}

package dev.saccade.core.ops.script;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.Test;

import java.util.List;

class ScriptTest {

    @Test
    void runsOperatorsWithGradients() {
        Script roll = Script.compile("(x: Tensor) -> Tensor", "return torch.roll(x, [1], [0])");
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDArray x = manager.create(new float[] {1, 2, 3});
            x.setRequiresGradient(true);
            try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
                NDArray rolled = roll.run(x);
                assertArrayEquals(new float[] {3, 1, 2}, rolled.toFloatArray());
                collector.backward(rolled.mul(manager.create(new float[] {5, 6, 7})).sum());
            }
            assertArrayEquals(new float[] {6, 7, 5}, x.getGradient().toFloatArray());
        }
    }

    @Test
    void supportsListsAndSeveralResults() {
        Script norms =
                Script.compile(
                        "(xs: List[Tensor], ys: List[Tensor]) -> Tuple[Tensor, Tensor]",
                        """
                        a = torch.stack(torch._foreach_norm(xs))
                        return (a, torch.add(xs[0], ys[1]))
                        """);
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDArray a = manager.create(new float[] {3, 4});
            NDArray b = manager.create(new float[] {5, 12});
            NDList results =
                    norms.runLists(
                            List.of(
                                    List.of(a, b),
                                    List.of(
                                            manager.ones(new Shape(2)),
                                            manager.ones(new Shape(2)))));
            assertArrayEquals(new float[] {5, 13}, results.get(0).toFloatArray(), 1e-6f);
            assertArrayEquals(new float[] {4, 5}, results.get(1).toFloatArray());
        }
    }

    @Test
    void showsTheScriptThatFailsToCompile() {
        SaccadeException error =
                assertThrows(
                        SaccadeException.class,
                        () -> Script.compile("(x: Tensor) -> Tensor", "return torch.no_such(x)"));
        assertEquals(SaccadeException.Kind.INTERNAL, error.kind());
        assertTrue(error.getMessage().contains("no_such"));
    }
}

package dev.saccade.core.ops.script;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

class ScriptTemplateTest {

    private static final ScriptTemplate CUMULATED =
            ScriptTemplate.of(
                    "(x: Tensor) -> Tensor",
                    """
                    # Twice each number, and then their sums.
                    y = torch.cumsum(torch.reshape(x, {shape}) * {factor}, {axis})
                    if {flat}:
                      y = torch.flatten(y)
                    return y * {factor}
                    """);

    private static Map<String, Object> constants(int factor) {
        return Map.of("shape", List.of(2, 2), "factor", factor, "axis", 1, "flat", true);
    }

    @Test
    void insertsConstantsByName() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDArray x = manager.create(new float[] {1, 2, 3, 4});
            assertArrayEquals(
                    new float[] {4, 12, 12, 28},
                    CUMULATED.with(constants(2)).run(x).toFloatArray());
        }
    }

    @Test
    void compilesOncePerConstants() {
        assertSame(CUMULATED.with(constants(3)), CUMULATED.with(constants(3)));
    }

    @Test
    void rejectsUnknownConstants() {
        IllegalArgumentException error =
                assertThrows(
                        IllegalArgumentException.class,
                        () -> CUMULATED.with(Map.of("factor", 2, "dim", 1)));
        assertTrue(
                error.getMessage()
                        .contains("got [dim, factor], expected [axis, factor, flat, shape]"),
                error.getMessage());
    }
}

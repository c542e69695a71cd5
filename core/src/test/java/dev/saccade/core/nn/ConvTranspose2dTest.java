package dev.saccade.core.nn;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.Script;

import org.junit.jupiter.api.Test;

import java.util.List;

class ConvTranspose2dTest {

    @Test
    void upsamplesAndCountsMultiplyAdds() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            ConvTranspose2d conv = new ConvTranspose2d(2, 3, 2, WeightInit.constant(0.5f));
            conv.initialize(manager, 0);
            NDArray x = manager.create(new float[] {1, 2, 3, 4}, new Shape(1, 2, 1, 2));
            NDArray y = conv.apply(x);
            assertEquals(new Shape(1, 3, 2, 4), y.getShape());
            assertArrayEquals(new float[] {2, 2, 3, 3, 2, 2, 3, 3}, y.get(":, 0").toFloatArray());
            assertEquals(4 * 3 * 4, MultiplyAdds.count(() -> conv.apply(x)));
            NDArray none = conv.apply(manager.zeros(new Shape(0, 2, 1, 2)));
            assertEquals(new Shape(0, 3, 2, 4), none.getShape());
        }
    }

    @Test
    void equalsTorchWithGradients() {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            ConvTranspose2d conv = new ConvTranspose2d(5, 4, 3, WeightInit.truncatedNormal(1));
            conv.initialize(manager, 7);
            NDArray bias = conv.namedParameters().get("bias").getArray();
            NDArray weight = conv.namedParameters().get("weight").getArray();
            manager.randomNormal(bias.getShape()).copyTo(bias);
            NDArray x = manager.randomNormal(new Shape(2, 5, 3, 4));
            Script torchs =
                    Script.compile(
                            "(x: Tensor, w: Tensor, b: Tensor) -> Tensor",
                            "return torch.conv_transpose2d(x, w, b, [3, 3])");
            List<NDArray> by = List.of(x, weight, bias);
            by.forEach(each -> each.setRequiresGradient(true));
            NDList found = Autograd.gradients(() -> conv.apply(x).square().sum(), by);
            NDList expected =
                    Autograd.gradients(() -> torchs.run(x, weight, bias).square().sum(), by);
            assertArrayEquals(
                    torchs.run(x, weight, bias).toFloatArray(),
                    conv.apply(x).toFloatArray(),
                    1e-5f);
            for (int i = 0; i < by.size(); i++) {
                assertArrayEquals(
                        expected.get(i).toFloatArray(), found.get(i).toFloatArray(), 1e-3f);
            }
        }
    }
}

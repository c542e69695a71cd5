package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.backbones.LinGlo.Skip;
import dev.saccade.core.nn.BatchNormType;
import dev.saccade.core.ops.memory.NoGrad;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Map;
import java.util.stream.Collectors;

class PositionEncodingTest {

    private static final int CHANNELS = 3;
    private static final int HEIGHT = 4;
    private static final int WIDTH = 5;

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @AfterEach
    void free() {
        manager.close();
    }

    @ParameterizedTest
    @CsvSource({
        "1, true, IDENTITY",
        "4, true, IDENTITY",
        "2, true, BN",
        "2, false, BN",
        "3, false, IDENTITY",
        "1, true, NONE",
        "4, true, NONE",
        "2, false, NONE"
    })
    void sumsBranchesAndInput(int branches, boolean branchBn, Skip skip) {
        PositionEncoding encoding =
                new PositionEncoding(CHANNELS, branches, branchBn, skip, BatchNormType.BN);
        encoding.initialize(manager, 0);
        encoding.namedParameters()
                .values()
                .forEach(p -> p.getArray().addi(manager.randomUniform(0, 1, p.getShape())));
        encoding.train(false);
        NDArray x = manager.randomNormal(new Shape(1, HEIGHT, WIDTH, CHANNELS));
        NDArray y = NoGrad.call(() -> encoding.apply(x));
        assertArrayEquals(
                sum(values(encoding), x.toFloatArray(), branches, skip), y.toFloatArray(), 1e-5f);
        encoding.fuse();
        NDArray fused = NoGrad.call(() -> encoding.apply(x));
        assertArrayEquals(y.toFloatArray(), fused.toFloatArray());
    }

    private static Map<String, float[]> values(PositionEncoding encoding) {
        return encoding.namedParameters().entrySet().stream()
                .collect(
                        Collectors.toMap(
                                Map.Entry::getKey, e -> e.getValue().getArray().toFloatArray()));
    }

    /** The definition, branch by branch and value by value. */
    private static float[] sum(Map<String, float[]> values, float[] x, int branches, Skip skip) {
        float[] sum = new float[x.length];
        for (int i = 0; i < x.length; i++) {
            int c = i % CHANNELS;
            int column = i / CHANNELS % WIDTH;
            int row = i / CHANNELS / WIDTH;
            double y = skip == Skip.NONE ? 0 : normalized(values, "skip", c, x[i]);
            for (int b = 1; b <= branches; b++) {
                float[] kernel = values.get("branch" + b + ".conv.weight");
                double convolved = 0;
                for (int tap = 0; tap < 9; tap++) {
                    int r = row + tap / 3 - 1;
                    int k = column + tap % 3 - 1;
                    if (r >= 0 && r < HEIGHT && k >= 0 && k < WIDTH) {
                        convolved += kernel[c * 9 + tap] * x[(r * WIDTH + k) * CHANNELS + c];
                    }
                }
                y += normalized(values, "branch" + b, c, convolved);
            }
            sum[i] = (float) y;
        }
        return sum;
    }

    private static double normalized(Map<String, float[]> values, String name, int c, double x) {
        float[] mean = values.get(name + ".bn.running_mean");
        if (mean == null) {
            return x;
        }
        double deviation = Math.sqrt(values.get(name + ".bn.running_var")[c] + 1e-5);
        float scale = values.get(name + ".bn.weight")[c];
        return (x - mean[c]) / deviation * scale + values.get(name + ".bn.bias")[c];
    }
}

package dev.saccade.export;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.export.Graph.Argument;
import dev.saccade.export.Graph.Node;
import dev.saccade.export.Graph.Value;

import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Holds operators of ONNX Runtime against those of libtorch, far from 0 as well. */
class ElementwiseTest {

    @TempDir private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"sigmoid", "tanh", "exp", "log", "sqrt", "rsqrt", "abs", "relu"})
    void operatorsEqualLibtorch(String name) {
        Shape shape = new Shape(2001);
        Value input = Value.of(0, "Float", shape);
        Value output = Value.of(1, "Float", shape);
        Node node =
                new Node(
                        "aten::" + name,
                        ImmutableList.of(new Argument.TensorRef(input)),
                        ImmutableMap.of(),
                        ImmutableList.of(output));
        Graph graph =
                new Graph(
                        ImmutableList.of(input),
                        ImmutableMap.of(),
                        ImmutableList.of(node),
                        ImmutableList.of(output));
        Path file = folder.resolve("operator.onnx");
        ExportFormat.ONNX.write(graph, List.of("x"), List.of("y"), 17, Map.of(), file);
        try (NDManager manager = NDManager.newBaseManager("PyTorch");
                ExportedProgram program = ExportFormat.ONNX.open(file)) {
            NDArray x = manager.arange(-1000f, 1001f).div(12);
            float[] expected = GraphScript.run(graph, List.of(x), manager).get(0).toFloatArray();
            float[] got = program.run(new NDList(x)).get(0).toFloatArray();
            for (int i = 0; i < got.length; i++) {
                // Numbers below those of full precision may be 0.
                float near = 1e-5f * Math.abs(expected[i]) + 1e-37f;
                assertEquals(expected[i], got[i], Float.isFinite(near) ? near : 1, name);
            }
        }
    }
}

package dev.saccade.export;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.structures.Size;
import dev.saccade.export.Graph.Argument;
import dev.saccade.export.Graph.Argument.Literal;
import dev.saccade.export.Graph.Argument.TensorRef;
import dev.saccade.export.Graph.Node;
import dev.saccade.export.Graph.Value;
import dev.saccade.export.Graph.Weight;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Checks that other runtimes and their quantizers can process the operators of ONNX files. */
class OnnxOperatorsTest {

    private static final int ROI_VALUES = 4;

    private final NDManager manager = NDManager.newBaseManager("PyTorch");

    @TempDir private Path folder;

    @AfterEach
    void close() {
        manager.close();
    }

    private static ModelProto read(Path file) throws IOException {
        return ModelProto.parseFrom(Files.readAllBytes(file));
    }

    private static Stream<NodeProto> nodes(ModelProto model, String operator) {
        return model.getGraph().getNodeList().stream()
                .filter(node -> node.getOpType().equals(operator));
    }

    private NDList run(ModelProto model, NDArray... inputs) throws IOException {
        Path file = folder.resolve("run.onnx");
        Files.write(file, model.toByteArray());
        try (ExportedProgram program = ExportFormat.ONNX.open(file)) {
            return program.run(new NDList(inputs));
        }
    }

    /** Returns the model with other outputs. */
    private static ModelProto withOutputs(ModelProto model, List<String> outputs) {
        ModelProto.Builder builder = model.toBuilder();
        builder.getGraphBuilder().clearOutput();
        outputs.forEach(name -> builder.getGraphBuilder().addOutputBuilder().setName(name));
        return builder.build();
    }

    @Test
    void roiAlignReadsNoEmptyRegions() throws IOException {
        assumeTrue(Kernels.status().loaded());
        manager.getEngine().setRandomSeed(5);
        Size size = new Size(96, 128);
        ModelExport export =
                ModelExport.of(
                                TinyModel.of(
                                        TinyModel.RESNET,
                                        TinyModel.FPN,
                                        TinyModel.MASK_RCNN,
                                        manager))
                        .size(size)
                        .record();
        Path file = folder.resolve("model.onnx");
        export.write(ExportFormat.ONNX, file);
        ModelProto model = read(file);
        List<String> regions = nodes(model, "RoiAlign").map(node -> node.getInput(1)).toList();
        List<String> pooled = nodes(model, "RoiAlign").map(node -> node.getOutput(0)).toList();
        NDArray image = manager.randomUniform(-1, 1, new Shape(1, 3, 96, 128));
        // The image is only 8 pixels high, so there are few proposals.
        NDArray sizes = manager.create(new float[] {128, 8}, new Shape(1, 2));
        NDList boxes = run(withOutputs(model, regions), image, sizes);
        NDList maps = run(withOutputs(model, pooled), image, sizes);
        int outside = 0;
        for (int l = 0; l < boxes.size(); l++) {
            float[] corners = boxes.get(l).toFloatArray();
            int rows = corners.length / ROI_VALUES;
            float[] values = maps.get(l).toFloatArray();
            for (int r = 0; r < rows; r++) {
                int k = ROI_VALUES * r;
                assertTrue(corners[k + 2] > corners[k] && corners[k + 3] > corners[k + 1]);
                if (corners[k + 2] < 0) {
                    outside++;
                    int length = values.length / rows;
                    for (int i = r * length; i < (r + 1) * length; i++) {
                        assertEquals(0, values[i]);
                    }
                }
            }
        }
        assertTrue(outside > 0);
    }

    @Test
    void weightsOfLinearLayersAreConstants() throws IOException {
        Value x = Value.of(0, "Float", new Shape(5, 3));
        Value weight = Value.of(1, "Float", new Shape(4, 3));
        Value first = Value.of(2, "Float", new Shape(5, 4));
        Value product = Value.of(3, "Float", new Shape(5, 3));
        Value last = Value.of(4, "Float", new Shape(5, 4));
        float[] values = manager.randomUniform(-1, 1, new Shape(12)).toFloatArray();
        // A matrix product also uses the weight.
        Graph graph =
                new Graph(
                        ImmutableList.of(x),
                        ImmutableMap.of(
                                weight,
                                new Weight("layer.weight", Tensor.of(new Shape(4, 3), values))),
                        ImmutableList.of(
                                linear(x, weight, first),
                                node("aten::matmul", product, ref(first), ref(weight)),
                                linear(product, weight, last)),
                        ImmutableList.of(first, last));
        Path file = folder.resolve("model.onnx");
        ExportFormat.ONNX.write(graph, List.of("x"), List.of("y0", "y1"), 17, Map.of(), file);
        ModelProto model = read(file);
        assertEquals(
                List.of("layer_weight"),
                model.getGraph().getInitializerList().stream().map(TensorProto::getName).toList());
        assertEquals(
                2,
                nodes(model, "MatMul")
                        .filter(node -> node.getInput(1).equals("layer_weight"))
                        .count());
        NDArray input = manager.randomUniform(-1, 1, new Shape(5, 3));
        NDList expected = GraphScript.run(graph, List.of(input), manager);
        NDList got = run(model, input);
        for (int i = 0; i < 2; i++) {
            assertArrayEquals(expected.get(i).toFloatArray(), got.get(i).toFloatArray(), 1e-6f);
        }
    }

    @Test
    void transformersHaveNoTransposedWeights() throws IOException {
        assumeTrue(Kernels.status().loaded());
        ModelExport export =
                ModelExport.of(TinyModel.of(TinyModel.SWIN, "null", TinyModel.UPERNET, manager))
                        .size(new Size(64, 64))
                        .record();
        Path file = folder.resolve("model.onnx");
        export.write(ExportFormat.ONNX, file);
        ModelProto model = read(file);
        Set<String> weights =
                model.getGraph().getInitializerList().stream()
                        .map(TensorProto::getName)
                        .collect(Collectors.toSet());
        assertEquals(
                0,
                nodes(model, "Transpose")
                        .filter(node -> weights.contains(node.getInput(0)))
                        .count());
    }

    private static Node linear(Value x, Value weight, Value result) {
        return node("aten::linear", result, ref(x), ref(weight), new Literal(null));
    }

    private static Node node(String operator, Value result, Argument... arguments) {
        return new Node(
                operator,
                ImmutableList.copyOf(arguments),
                ImmutableMap.of(),
                ImmutableList.of(result));
    }

    private static Argument ref(Value value) {
        return new TensorRef(value);
    }
}

package dev.saccade.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;

import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.structures.Size;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
}

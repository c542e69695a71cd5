package dev.saccade.export;

import ai.onnx.proto.OnnxMl.ModelProto;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.checkpoint.pytorch.TorchFile;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.nn.Precision;
import dev.saccade.export.Graph.Value;
import dev.saccade.export.onnx.OnnxWriter;
import dev.saccade.models.Model;

import java.nio.channels.Channels;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** File format of an exported model. */
public enum ExportFormat {

    /** TorchScript module; {@code forward} returns a tuple of the outputs. */
    TORCHSCRIPT(".pt") {

        @Override
        void write(
                Graph graph,
                List<String> inputs,
                List<String> outputs,
                int opset,
                Map<String, String> metadata,
                Path file) {
            Map<Value, String> names = new HashMap<>();
            for (int i = 0; i < inputs.size(); i++) {
                names.put(graph.inputs().get(i), inputs.get(i));
            }
            Map<String, Tensor> attributes = new LinkedHashMap<>();
            graph.weightNames()
                    .forEach(
                            (value, name) -> {
                                attributes.put(name, graph.weights().get(value).tensor());
                                names.put(value, "self." + name);
                            });
            String parameters =
                    inputs.stream()
                            .map(name -> name + ": Tensor")
                            .collect(Collectors.joining(", "));
            String results =
                    outputs.stream().map(name -> "Tensor").collect(Collectors.joining(", "));
            StringBuilder code = new StringBuilder();
            code.append(
                    Text.format(
                            "def forward(self: __torch__.M, %s) -> Tuple[%s]:%n",
                            parameters, results));
            code.append(new TorchScriptCode(graph, names).body("(", ",)").indent(2));
            code.append(TorchScriptCode.functions(graph));
            TorchFile.writeScript(file, code.toString(), attributes, metadata);
        }

        @Override
        void require(Graph graph) {
            TorchScriptCode.require(graph);
        }

        @Override
        public ExportedProgram open(Path file) {
            return new TorchScriptProgram(file);
        }
    },

    ONNX(".onnx") {

        @Override
        void write(
                Graph graph,
                List<String> inputs,
                List<String> outputs,
                int opset,
                Map<String, String> metadata,
                Path file) {
            ModelProto model = OnnxWriter.write(graph, inputs, outputs, opset, metadata);
            AtomicFile.write(file, channel -> model.writeTo(Channels.newOutputStream(channel)));
        }

        @Override
        void require(Model<?> model, Precision precision) {
            if (precision == Precision.BFLOAT16) {
                throw SaccadeException.user(
                        "ONNX Runtime has no bfloat16 convolutions; use float16 or float32");
            }
            long bytes =
                    model.parameterCount()
                            * (precision == Precision.FLOAT32 ? Float.BYTES : Short.BYTES);
            if (bytes > MAX_ONNX_BYTES) {
                throw SaccadeException.user(
                        "an ONNX file has at most 2 GB, but the weights have %.1f GB; use"
                                + " TorchScript%s",
                        bytes / 1e9, precision == Precision.FLOAT32 ? " or float16" : "");
            }
        }

        @Override
        void require(Graph graph) {
            OnnxWriter.require(graph);
        }

        @Override
        public ExportedProgram open(Path file) {
            return new OnnxProgram(file);
        }
    };

    /** Maximum size of the weights; a file has at most 2 GiB and also contains the graph. */
    private static final long MAX_ONNX_BYTES = 2_100_000_000L;

    private final String suffix;

    ExportFormat(String suffix) {
        this.suffix = suffix;
    }

    /** Returns the file name suffix, including the dot. */
    public String suffix() {
        return suffix;
    }

    abstract void write(
            Graph graph,
            List<String> inputs,
            List<String> outputs,
            int opset,
            Map<String, String> metadata,
            Path file);

    /** Rejects a model that cannot be written in this format. */
    void require(Model<?> model, Precision precision) {}

    /** Rejects a graph with unsupported operators, and names at least the first one. */
    abstract void require(Graph graph);

    /** Opens a file to run it on the CPU. */
    public abstract ExportedProgram open(Path file);
}

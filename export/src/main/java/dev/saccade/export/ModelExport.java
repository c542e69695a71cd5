package dev.saccade.export;

import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.ProgressBar;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.TaskMonitor;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Transform;
import dev.saccade.export.Graph.Value;
import dev.saccade.export.onnx.OnnxWriter;
import dev.saccade.models.DetectionModel;
import dev.saccade.models.Model;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * A recorded model: the libtorch operators that it runs, written as TorchScript or ONNX.
 *
 * <p>Input {@code images}, {@code [N, 3, H, W]} float32, must be normalized, unless the export
 * includes {@linkplain Settings#normalization(List) normalization}. A segmenter returns {@code
 * logits}, {@code [N, K, h, w]}. A detector also takes {@code sizes}, {@code [N, 2]} float32 width
 * and height of each image without padding. It returns {@code boxes}, {@code [N, M, 4]} corners in
 * pixels of the input, {@code labels}, {@code [N, M]} int64, {@code scores}, {@code [N, M]}
 * descending, {@code counts}, {@code [N]} int64 objects per image, and {@code masks} if any, {@code
 * [N, M, S, S]} probabilities inside the boxes. The exported detector includes NMS.
 *
 * <p>To support any image size, the model is recorded at several sizes, see {@link ShapeInference}.
 * Batch normalization is folded into convolutions, and values that depend only on weights are
 * precomputed.
 *
 * <pre>{@code
 * try (Detector detector = Detector.load(Path.of("best.safetensors"), Device.cpu())) {
 *     ModelExport.of(detector.model()).record().write(ExportFormat.ONNX, Path.of("model.onnx"));
 * }
 * }</pre>
 */
public final class ModelExport {

    /** Number of recorded random sizes, in addition to the long images. */
    private static final int EXAMPLES = 9;

    /**
     * Long images give large feature maps at low cost. For small maps, a wrong {@link
     * SizeExpression} may hold by chance.
     */
    private static final ImmutableList<Size> LONG =
            ImmutableList.of(new Size(1393, 71), new Size(67, 1451));

    private static final int MIN_EDGE = 65;
    private static final int MAX_EDGE = 560;
    private static final int MAX_IMAGES = 3;

    private static final ImmutableList<String> DETECTOR_OUTPUTS =
            ImmutableList.of("boxes", "labels", "scores", "counts", "masks");

    private final Settings settings;
    private final Graph graph;
    private final ImmutableList<String> inputs;
    private final ImmutableList<String> outputs;

    ModelExport(Settings settings, Graph graph) {
        this.settings = settings;
        this.graph = graph;
        if (settings.model() instanceof DetectionModel detector) {
            boolean hasMasks = detector.config().head().targets().hasMasks();
            inputs = ImmutableList.of("images", "sizes");
            outputs = DETECTOR_OUTPUTS.subList(0, hasMasks ? 5 : 4);
        } else {
            inputs = ImmutableList.of("images");
            outputs = ImmutableList.of("logits");
        }
    }

    /**
     * Returns the default settings: float32, images of any size, opset 17.
     *
     * @param model in inference mode, on a CPU
     */
    public static Settings of(Model<?> model) {
        return new Settings(
                model,
                Optional.empty(),
                Precision.FLOAT32,
                Optional.empty(),
                OnnxWriter.OPSETS.lowerEndpoint());
    }

    /**
     * Export settings.
     *
     * @param model in inference mode, on a CPU
     * @param size the only supported image size, including padding; any size if empty
     * @param precision computation precision; inputs and outputs are float32
     * @param normalization normalization inside the model, which then expects RGB pixels of 0 to
     *     255
     * @param opset ONNX operator set, 17 to 21
     */
    public record Settings(
            Model<?> model,
            Optional<Size> size,
            Precision precision,
            Optional<InputNormalization> normalization,
            int opset) {

        public Settings {
            if (!OnnxWriter.OPSETS.contains(opset)) {
                throw SaccadeException.user(
                        "opset: got %d, expected %d to %d",
                        opset,
                        OnnxWriter.OPSETS.lowerEndpoint(),
                        OnnxWriter.OPSETS.upperEndpoint());
            }
        }

        /** Returns the settings for images of one size, including padding. */
        public Settings size(Size only) {
            return new Settings(model, Optional.of(only), precision, normalization, opset);
        }

        public Settings precision(Precision computed) {
            return new Settings(model, size, computed, normalization, opset);
        }

        /**
         * Returns the settings with normalization, and padding for detectors, inside the model.
         * Fails if the transforms do not normalize, or if they pad to a fixed size.
         */
        public Settings normalization(List<Transform> transforms) {
            InputNormalization last = InputNormalization.of(transforms);
            return new Settings(model, size, precision, Optional.of(last), opset);
        }

        public Settings opset(int version) {
            return new Settings(model, size, precision, normalization, version);
        }

        ModelRecorder recorder() {
            return new ModelRecorder(model, precision, normalization);
        }

        /**
         * Records the model.
         *
         * @throws SaccadeException of kind user, if the fused operators, which are needed for
         *     recording, are not available, or the operators depend on the image size
         */
        public ModelExport record() {
            return record(List.of(), ProgressBar.NONE);
        }

        /**
         * Records the model.
         *
         * @param formats formats to support; fails early if one of them lacks an operator
         * @param progress such as a {@link TaskMonitor}
         */
        public ModelExport record(List<ExportFormat> formats, ProgressBar.Factory progress) {
            formats.forEach(format -> format.require(model, precision));
            ModelRecorder recorder = recorder();
            List<Graph> graphs = new ArrayList<>();
            int channels = model.inChannels();
            List<Shape> shapes =
                    size.map(only -> ofOneSize(only, channels))
                            .orElseGet(() -> ofAnySize(channels));
            try (ProgressBar bar = progress.open("record operators", shapes.size(), " sizes")) {
                for (Shape shape : shapes) {
                    Graph graph = recorder.record(shape);
                    if (graphs.isEmpty()) {
                        formats.forEach(format -> format.require(Simplification.of(graph)));
                    }
                    graphs.add(graph);
                    bar.step();
                }
            }
            Graph merged = ShapeInference.of(graphs);
            return new ModelExport(this, BatchNormFolding.of(Simplification.of(merged)));
        }

        private static List<Shape> ofOneSize(Size only, int channels) {
            return LongStream.rangeClosed(1, MAX_IMAGES)
                    .mapToObj(n -> new Shape(n, channels, only.height(), only.width()))
                    .toList();
        }

        private static List<Shape> ofAnySize(int channels) {
            SplittableRandom random = SeededRandom.of(0, 0, 0);
            List<Shape> shapes = new ArrayList<>();
            for (int k = 0; k < EXAMPLES; k++) {
                // A batch has no more pixels than the largest single image.
                int images = 1 + k % MAX_IMAGES;
                int most = MAX_EDGE / images;
                int height = random.nextInt(MIN_EDGE, most);
                shapes.add(new Shape(images, channels, height, random.nextInt(MIN_EDGE, most)));
            }
            LONG.forEach(size -> shapes.add(new Shape(1, channels, size.height(), size.width())));
            return shapes;
        }
    }

    public List<String> inputs() {
        return inputs;
    }

    public List<String> outputs() {
        return outputs;
    }

    Settings settings() {
        return settings;
    }

    /** Returns the operators; for detectors, the last outputs are {@link #maps}. */
    Graph graph() {
        return graph;
    }

    /** Returns the values of the {@link #outputs}. */
    List<Value> results() {
        return graph.outputs().subList(0, outputs.size());
    }

    /** Writes the model. Fails if the format lacks an operator. */
    public void write(ExportFormat format, Path file) {
        write(format, Map.of(), file);
    }

    /**
     * Writes the model with metadata: {@code metadata_props} in ONNX, extra files in TorchScript.
     * Fails if the format lacks an operator.
     */
    public void write(ExportFormat format, Map<String, String> metadata, Path file) {
        write(format, results(), outputs, metadata, file);
    }

    /**
     * Exports the model with outputs {@code values} to a temporary file, and opens the file.
     *
     * @param folder folder of the temporary file
     */
    ExportedProgram open(ExportFormat format, List<Value> values, Path folder) {
        List<String> names = IntStream.range(0, values.size()).mapToObj(i -> "map_" + i).toList();
        try {
            Path file = Files.createTempFile(folder, "saccade", format.suffix());
            try {
                write(format, values, names, Map.of(), file);
                return format.open(file);
            } finally {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", folder, e.getMessage());
        }
    }

    private void write(
            ExportFormat format,
            List<Value> values,
            List<String> names,
            Map<String, String> metadata,
            Path file) {
        format.write(graph.withOutputs(values), inputs, names, settings.opset, metadata, file);
    }

    /** Returns the values to compare with {@link ModelOutputs#maps}. */
    List<Value> maps() {
        List<Value> all = graph.outputs();
        return all.size() > outputs.size() ? all.subList(outputs.size(), all.size()) : all;
    }
}

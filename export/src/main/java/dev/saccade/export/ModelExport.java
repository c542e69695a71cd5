package dev.saccade.export;

import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.SeededRandom;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Transform;
import dev.saccade.export.Graph.Value;
import dev.saccade.export.onnx.OnnxWriter;
import dev.saccade.models.DetectionModel;
import dev.saccade.models.Model;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.IntConsumer;

/**
 * A model as other programs run it: what it computes, recorded and written with the operators of
 * libtorch or ONNX alone.
 *
 * <p>It is given {@code images}, {@code [N, 3, H, W]} float32, normalized. A segmenter gives {@code
 * logits}, {@code [N, K, h, w]}. A detector is given {@code sizes} too, {@code [N, 2]} float32:
 * width and height of each image without its padding; it gives {@code boxes}, {@code [N, M, 4]}
 * corners in pixels of the input, {@code labels}, {@code [N, M]} int64, {@code scores}, {@code [N,
 * M]} in descending order, {@code counts}, {@code [N]} int64: how many objects there are of each
 * image, and, if it draws masks, {@code masks}, {@code [N, M, S, S]}: their probabilities inside of
 * the boxes. Selection is in it, as the model has it.
 *
 * <p>For images of every size it is recorded at several sizes, see {@link ShapeInference}. Batch
 * normalizations become part of the convolutions before them, and what depends on weights alone is
 * computed beforehand.
 *
 * <pre>{@code
 * try (Detector detector = Detector.load(Path.of("best.safetensors"), Device.cpu())) {
 *     ModelExport.of(detector.model()).record().write(ExportFormat.ONNX, Path.of("model.onnx"));
 * }
 * }</pre>
 */
public final class ModelExport {

    /** Examples that sizes are concluded from, besides the long ones. */
    private static final int EXAMPLES = 9;

    /** Deep maps of other images are so small that several rules hold; long ones cost little. */
    private static final ImmutableList<Shape> LONG =
            ImmutableList.of(new Shape(1, 3, 1393, 71), new Shape(1, 3, 67, 1451));

    private static final int LEAST_EDGE = 65;
    private static final int MOST_EDGE = 560;
    private static final int MOST_IMAGES = 3;

    private static final ImmutableList<String> OF_DETECTORS =
            ImmutableList.of("boxes", "labels", "scores", "counts", "masks");

    private final Settings settings;
    private final Graph whole;
    private final ImmutableList<Value> recorded;
    private final ImmutableList<String> inputs;
    private final ImmutableList<String> outputs;

    /**
     * Takes what was recorded.
     *
     * @param whole with the maps behind what is delivered
     * @param recorded what the operators of a recording give, in the order in which they run
     */
    private ModelExport(Settings settings, Graph whole, ImmutableList<Value> recorded) {
        this.settings = settings;
        this.whole = whole;
        this.recorded = recorded;
        if (settings.model() instanceof DetectionModel detector) {
            boolean draws = detector.config().head().targets().hasMasks();
            inputs = ImmutableList.of("images", "sizes");
            outputs = OF_DETECTORS.subList(0, draws ? 5 : 4);
        } else {
            inputs = ImmutableList.of("images");
            outputs = ImmutableList.of("logits");
        }
    }

    /**
     * Returns the settings of an export, to be changed and recorded.
     *
     * @param model in inference mode, on a CPU
     */
    public static Settings of(Model<?> model) {
        return new Settings(model);
    }

    /** How a model is exported. */
    public static final class Settings {

        private final Model<?> model;
        private Optional<Size> size = Optional.empty();
        private Precision precision = Precision.FLOAT32;
        private Optional<InputNormalization> normalization = Optional.empty();
        private int opset = OnnxWriter.OPSETS.lowerEndpoint();
        private Optional<ExportFormat> format = Optional.empty();
        private IntConsumer progress = recordings -> {};

        private Settings(Model<?> model) {
            this.model = model;
        }

        /** Copies others, which may be changed for another export. */
        private Settings(Settings other) {
            model = other.model;
            size = other.size;
            precision = other.precision;
            normalization = other.normalization;
            opset = other.opset;
            format = other.format;
            progress = other.progress;
        }

        /** Sets the only size of images, with their padding; otherwise they are of any size. */
        public Settings size(Size only) {
            size = Optional.of(only);
            return this;
        }

        /** Sets what is computed in, float32 otherwise; inputs and outputs are float32. */
        public Settings precision(Precision computed) {
            precision = computed;
            return this;
        }

        /**
         * Makes normalization part of the model, which is given RGB pixels of 0 to 255 then; of a
         * detector the padding to multiples, too.
         *
         * @param transforms those of the model, which end with both
         * @throws SaccadeException of kind user, if they end with something else
         */
        public Settings normalizing(List<Transform> transforms) {
            normalization = Optional.of(InputNormalization.of(transforms));
            return this;
        }

        /**
         * Sets the version of ONNX's operators, 17 to 21; 17 otherwise.
         *
         * @throws SaccadeException of kind user, if it is none of them
         */
        public Settings opset(int version) {
            if (!OnnxWriter.OPSETS.contains(version)) {
                throw SaccadeException.user(
                        "opset: got %d, expected %d to %d",
                        version,
                        OnnxWriter.OPSETS.lowerEndpoint(),
                        OnnxWriter.OPSETS.upperEndpoint());
            }
            opset = version;
            return this;
        }

        /** Says what it will be written in, so that what cannot be written is refused at once. */
        public Settings format(ExportFormat wanted) {
            format = Optional.of(wanted);
            return this;
        }

        /** Sets what is told the number of {@link #recordings} that are done, after each. */
        public Settings progress(IntConsumer told) {
            progress = told;
            return this;
        }

        /** Returns how often the model is recorded. */
        public int recordings() {
            return size.isPresent() ? MOST_IMAGES : EXAMPLES + LONG.size();
        }

        Model<?> model() {
            return model;
        }

        Optional<Size> size() {
            return size;
        }

        Optional<InputNormalization> normalization() {
            return normalization;
        }

        Precision precision() {
            return precision;
        }

        int opset() {
            return opset;
        }

        /** Returns what records the model with the weights that it has now. */
        ModelRecorder recorder() {
            return new ModelRecorder(model, precision, normalization);
        }

        /**
         * Records the model.
         *
         * @throws SaccadeException of kind user, if there is no library of fused operators, which
         *     records, or if what the model computes cannot be told for every size, or cannot be
         *     written in the format
         */
        public ModelExport record() {
            format.ifPresent(wanted -> wanted.require(model, precision));
            ModelRecorder recorder = recorder();
            List<Graph> graphs = new ArrayList<>();
            for (Shape shape : size.map(Settings::ofOneSize).orElseGet(Settings::ofAnySize)) {
                Graph graph = recorder.record(shape);
                if (graphs.isEmpty()) {
                    format.ifPresent(wanted -> wanted.require(Simplification.of(graph)));
                }
                graphs.add(graph);
                progress.accept(graphs.size());
            }
            Graph graph = ShapeInference.of(graphs);
            Graph simple = BatchNormFolding.of(Simplification.of(graph));
            return new ModelExport(new Settings(this), simple, graph.results());
        }

        private static List<Shape> ofOneSize(Size only) {
            List<Shape> shapes = new ArrayList<>();
            for (int n = 1; n <= MOST_IMAGES; n++) {
                shapes.add(new Shape(n, 3, only.height(), only.width()));
            }
            return shapes;
        }

        private static List<Shape> ofAnySize() {
            SplittableRandom random = SeededRandom.of(0, 0, 0);
            List<Shape> shapes = new ArrayList<>();
            for (int k = 0; k < EXAMPLES; k++) {
                // As large as one image is what several make.
                int images = 1 + k % MOST_IMAGES;
                int most = MOST_EDGE / images;
                shapes.add(
                        new Shape(
                                images,
                                3,
                                random.nextInt(LEAST_EDGE, most),
                                random.nextInt(LEAST_EDGE, most)));
            }
            shapes.addAll(LONG);
            return shapes;
        }
    }

    /** Returns the names of what is given, in order. */
    public List<String> inputs() {
        return inputs;
    }

    /** Returns the names of what is got, in order. */
    public List<String> outputs() {
        return outputs;
    }

    /** Returns how it was exported. */
    Settings settings() {
        return settings;
    }

    /** Returns what it computes, with the maps behind what is delivered. */
    Graph whole() {
        return whole;
    }

    /** Returns what the operators of a recording give, in the order in which they run. */
    List<Value> recorded() {
        return recorded;
    }

    /**
     * Writes the model.
     *
     * @throws SaccadeException of kind I/O, if it cannot be written; of kind user, if the format
     *     has no operator for what the model computes
     */
    public void write(ExportFormat format, Path file) {
        write(format, whole.outputs().subList(0, outputs.size()), outputs, file);
    }

    /** Writes a model that gives other values than those that are delivered. */
    void write(ExportFormat format, List<Value> values, Path file) {
        List<String> names = new ArrayList<>();
        values.forEach(value -> names.add("map_" + names.size()));
        write(format, values, names, file);
    }

    private void write(ExportFormat format, List<Value> values, List<String> names, Path file) {
        format.write(whole.withOutputs(values), inputs, names, settings.opset, file);
    }

    /** Returns the values to be held against {@link ModelOutputs#maps}. */
    List<Value> maps() {
        List<Value> all = whole.outputs();
        return all.size() > outputs.size() ? all.subList(outputs.size(), all.size()) : all;
    }
}

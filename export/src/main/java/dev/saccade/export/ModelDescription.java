package dev.saccade.export;

import com.google.common.base.Ascii;
import com.google.common.collect.ImmutableList;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.core.Version;
import dev.saccade.core.nn.Precision;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.transforms.TestTimeAugmentation;
import dev.saccade.models.ModelConfig;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.ScoreThresholds;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Description of an exported model, written as JSON beside it.
 *
 * @param saccade the version that exported it
 * @param task {@code detection} or {@code segmentation}
 * @param format {@code onnx} or {@code torchscript}
 * @param opset the version of ONNX's operators
 * @param precision what it computes in; inputs and outputs are float32
 * @param imageSize height and width of the only images that it takes, with their padding; any if
 *     there are none
 * @param inputs what is given, in order
 * @param outputs what is got, in order
 * @param classes the names of the labels, in order
 * @param transforms what is done to an RGB photograph before, in order; pixels of 0 to 255
 * @param views test-time augmentations by name; the exported model predicts one view, and merging
 *     is left to the caller
 * @param scoreThreshold recommended minimum score of detections; none for segmentation
 * @param classScoreThresholds recommended minimum scores by class name; other classes use {@code
 *     scoreThreshold}
 * @param model what the model is made of; thresholds of the selection, such as {@code nms}, are
 *     those of its head
 */
public record ModelDescription(
        String saccade,
        String task,
        String format,
        Optional<Integer> opset,
        Precision precision,
        Optional<List<Integer>> imageSize,
        List<Array> inputs,
        List<Array> outputs,
        List<String> classes,
        List<Transform> transforms,
        Map<String, TestTimeAugmentation> views,
        Optional<Double> scoreThreshold,
        Map<String, Double> classScoreThresholds,
        ModelConfig model) {

    /**
     * An input or output.
     *
     * @param name how it is called
     * @param type of its elements
     * @param shape sizes along its axes, or what they depend on
     * @param meaning in a few words
     */
    public record Array(String name, String type, List<String> shape, String meaning) {

        private static Array of(String name, String images) {
            return switch (name) {
                case "images" -> floats(name, images, "N", "3", "H", "W");
                case "sizes" ->
                        floats(name, "width and height of each image without padding", "N", "2");
                case "boxes" ->
                        floats(
                                name,
                                "x1, y1, x2, y2 in pixels of the input image; scale them by the"
                                        + " size of the original image over that of the input",
                                "N",
                                "M",
                                "4");
                case "labels" -> new Array(name, "int64", List.of("N", "M"), "class indices");
                case "scores" ->
                        floats(
                                name,
                                "in descending order; minus infinity after the last",
                                "N",
                                "M");
                case "counts" ->
                        new Array(name, "int64", List.of("N"), "number of objects of each image");
                case "masks" -> floats(name, "probabilities inside the boxes", "N", "M", "S", "S");
                default ->
                        floats(
                                name,
                                "resize to the input size, then to the original size; the class"
                                        + " is the index of the largest value",
                                "N",
                                "K",
                                "h",
                                "w");
            };
        }

        private static Array floats(String name, String meaning, String... shape) {
            return new Array(name, "float32", List.of(shape), meaning);
        }
    }

    /**
     * Describes an exported model.
     *
     * @param spec what it is fed with
     * @param thresholds recommended minimum scores of detections; none for segmentation
     */
    public static ModelDescription of(
            ModelExport export,
            ExportFormat format,
            ModelSpec spec,
            Optional<ScoreThresholds> thresholds) {
        ModelExport.Settings settings = export.settings();
        boolean normalizes = settings.normalization().isPresent();
        return new ModelDescription(
                Version.saccade(),
                spec.model().head().targets().hasObjects() ? "detection" : "segmentation",
                Ascii.toLowerCase(format.name()),
                format == ExportFormat.ONNX ? Optional.of(settings.opset()) : Optional.empty(),
                settings.precision(),
                settings.size().map(size -> List.of(size.height(), size.width())),
                arrays(export.inputs(), images(export, spec)),
                arrays(export.outputs(), ""),
                spec.classes(),
                normalizes ? InputNormalization.before(spec.transforms()) : spec.transforms(),
                spec.views().views(),
                thresholds.map(ScoreThresholds::overall),
                thresholds.map(ScoreThresholds::perClass).orElse(Map.of()),
                spec.model());
    }

    /** Returns what images are to be like. */
    private static String images(ModelExport export, ModelSpec spec) {
        String pixels =
                export.settings().normalization().isPresent()
                        ? "RGB of 0 to 255, after the transforms"
                        : "RGB, after the transforms";
        if (!spec.model().head().targets().hasObjects()) {
            return pixels + ", without padding";
        }
        return pixels
                + (export.settings().size().isPresent()
                        ? ", padded bottom and right to image_size"
                        : ", padded bottom and right to one size");
    }

    private static ImmutableList<Array> arrays(List<String> names, String images) {
        return names.stream()
                .map(name -> Array.of(name, images))
                .collect(ImmutableList.toImmutableList());
    }

    /**
     * Writes it as JSON.
     *
     * @throws dev.saccade.core.SaccadeException of kind I/O, if it cannot be written
     */
    public void write(Path file) {
        AtomicFile.write(file, ConfigWriter.valuesAsJson(Configs.unbind(this)));
    }
}

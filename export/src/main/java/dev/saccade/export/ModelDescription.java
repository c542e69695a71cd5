package dev.saccade.export;

import com.google.common.base.Ascii;
import com.google.common.base.Splitter;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.core.Version;
import dev.saccade.core.components.ClassActivation;
import dev.saccade.core.components.ClassificationHead;
import dev.saccade.core.nn.Precision;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.datasets.transforms.TestTimeAugmentation;
import dev.saccade.models.ModelConfig;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.Provenance;
import dev.saccade.models.ScoreThresholds;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Description of an exported model, written as JSON.
 *
 * @param saccade version that exported the model
 * @param task {@code detection} or {@code segmentation}
 * @param format {@code onnx} or {@code torchscript}
 * @param precision computation precision; inputs and outputs are float32
 * @param quantizedLayers names of layers with 8-bit weights and activations
 * @param imageSize the only supported height and width, including padding; any size if empty
 * @param classes names by class index
 * @param transforms transforms to apply to an RGB image of 0 to 255 before the model, in order
 * @param views test-time augmentations by name; the exported model predicts one augmented image,
 *     and the caller merges the results
 * @param scoreThreshold recommended minimum score of detections; none for segmentation
 * @param classScoreThresholds recommended minimum scores by class name; other classes use {@code
 *     scoreThreshold}
 * @param provenance origin of the weights; empty if unknown
 * @param model config of backbone, neck and head, including thresholds of NMS
 */
public record ModelDescription(
        String saccade,
        String task,
        String format,
        Optional<Integer> opset,
        Precision precision,
        List<String> quantizedLayers,
        Optional<List<Integer>> imageSize,
        List<Array> inputs,
        List<Array> outputs,
        List<String> classes,
        List<Transform> transforms,
        Map<String, TestTimeAugmentation> views,
        Optional<Double> scoreThreshold,
        Map<String, Double> classScoreThresholds,
        Optional<Provenance> provenance,
        ModelConfig model) {

    /** An input or output; letters in its shape are variable sizes. */
    public record Array(String name, String type, List<String> shape, String meaning) {

        private static final String BOXES =
                "x1, y1, x2, y2 in pixels of the input image; scale them by original size /"
                        + " input size";

        private static final String LOGITS =
                "resize to the input size, then to the original size; the class is the index of"
                        + " the largest value";

        private static Array of(String name, String images, int channels) {
            return switch (name) {
                case "images" -> array(name, "N " + channels + " H W", images);
                case "sizes" ->
                        array(name, "N 2", "width and height of each image without padding");
                case "boxes" -> array(name, "N M 4", BOXES);
                case "labels" -> array(name, "N M", "class indices");
                case "scores" ->
                        array(
                                name,
                                "N M",
                                "in descending order; minus infinity after the last object");
                case "counts" -> array(name, "N", "number of objects of each image");
                case "masks" -> array(name, "N M S S", "probabilities inside the boxes");
                default -> array(name, "N K h w", LOGITS);
            };
        }

        private static Array ofClasses(ClassActivation activation) {
            String meaning =
                    switch (activation) {
                        case SOFTMAX -> "the softmax over K is the probability of each class";
                        case SIGMOID -> "the sigmoid is the probability of each class";
                    };
            return array("logits", "N K", meaning);
        }

        private static Array array(String name, String shape, String meaning) {
            boolean isInteger = name.equals("labels") || name.equals("counts");
            List<String> sizes = Splitter.on(' ').splitToList(shape);
            return new Array(name, isInteger ? "int64" : "float32", sizes, meaning);
        }
    }

    public static ModelDescription of(
            ModelExport export,
            ExportFormat format,
            ModelSpec spec,
            Optional<ScoreThresholds> thresholds,
            List<String> quantizedLayers,
            Optional<Provenance> provenance) {
        ModelExport.Settings settings = export.settings();
        boolean normalizes = settings.normalization().isPresent();
        return new ModelDescription(
                Version.saccade(),
                switch (spec.model().head().targets()) {
                    case BOXES, MASKS, MASKS_AND_LABEL_MAPS -> "detection";
                    case LABEL_MAPS -> "segmentation";
                    case CLASSES -> "classification";
                },
                Ascii.toLowerCase(format.name()),
                format == ExportFormat.ONNX ? Optional.of(settings.opset()) : Optional.empty(),
                settings.precision(),
                quantizedLayers,
                settings.size().map(size -> List.of(size.height(), size.width())),
                arrays(export.inputs(), images(export, spec), spec.pixels().channels()),
                spec.model().head() instanceof ClassificationHead.Config head
                        ? List.of(Array.ofClasses(head.activation()))
                        : arrays(export.outputs(), "", spec.pixels().channels()),
                spec.classes(),
                spec.transforms().stream()
                        .filter(transform -> !(normalizes && transform.mustBeLast()))
                        .toList(),
                spec.tta().tta(),
                thresholds.map(ScoreThresholds::overall),
                thresholds.map(ScoreThresholds::perClass).orElse(Map.of()),
                provenance,
                spec.model());
    }

    private static String images(ModelExport export, ModelSpec spec) {
        ModelExport.Settings settings = export.settings();
        String values = settings.normalization().isPresent() ? " of 0 to 255" : "";
        PixelFormat format = spec.pixels();
        String pixels =
                format.isRgb8()
                        ? "RGB" + values
                        : format.describe() + ", which is mapped to 0 to 255";
        String padding =
                !spec.model().head().targets().hasObjects()
                        ? "without padding"
                        : settings.size().isPresent()
                                ? "padded at the bottom and right to image_size"
                                : "padded at the bottom and right to one size";
        return pixels + ", after the transforms, " + padding;
    }

    private static List<Array> arrays(List<String> names, String images, int channels) {
        return names.stream().map(name -> Array.of(name, images, channels)).toList();
    }

    public void write(Path file) {
        AtomicFile.write(file, ConfigWriter.valuesAsJson(Configs.unbind(this)));
    }
}

package dev.saccade.models.zoo;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.core.nn.Precision;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.InputSize;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.transforms.NamedAugmentations;
import dev.saccade.models.ModelConfig;
import dev.saccade.models.ModelSpec;

import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A config bundled with the library.
 *
 * @param name path below {@code configs/}, such as {@code mask_rcnn/swin_tiny_fpn_1x_coco}
 * @param publication source of the results; empty for Saccade's own recipes
 * @param published results by the columns of {@code configs/papers.yaml}, such as {@code box_ap} in
 *     percent
 */
public record Recipe(
        String name,
        TargetKind targets,
        Optional<Publication> publication,
        Map<String, BigDecimal> published) {

    /** The settings of a config that prediction needs. */
    private record Prediction(
            ModelConfig model,
            @Unwrapped InputSize size,
            @Default(Transform.FOR_PREDICTION) List<Transform> valTransforms,
            @Unwrapped NamedAugmentations tta,
            Dataset.Config val) {}

    /** Returns the config merged with its bases. */
    public ConfigNode.Mapping config() {
        return ConfigFile.packaged(name + ".yaml");
    }

    public ModelConfig model() {
        return Configs.bind(config().get("model").orElseThrow(), ModelConfig.class);
    }

    /**
     * Returns the model description for prediction; throws if only the data set names the classes.
     */
    public ModelSpec spec() {
        ConfigNode.Mapping config = config();
        Map<String, ConfigNode> entries = new LinkedHashMap<>();
        if (config.get("data").orElse(config) instanceof ConfigNode.Mapping data) {
            for (String key : List.of("image_size", "val_transforms", "tta", "val_tta", "val")) {
                data.get(key).ifPresent(value -> entries.put(key, value));
            }
        }
        config.get("model").ifPresent(model -> entries.put("model", model));
        Prediction prediction =
                Configs.bind(new ConfigNode.Mapping(entries, config.origin()), Prediction.class);
        List<String> classes = prediction.val().knownClasses();
        if (classes.isEmpty()) {
            throw SaccadeException.user(
                    "%s: the class names are only in the data set; use a checkpoint of a Saccade"
                            + " run, which stores them",
                    name);
        }
        return new ModelSpec(
                prediction.model(),
                prediction.size().applyTo(prediction.valTransforms()),
                prediction.tta(),
                classes,
                Precision.FLOAT32);
    }
}

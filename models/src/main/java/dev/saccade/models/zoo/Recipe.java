package dev.saccade.models.zoo;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.TargetKind;
import dev.saccade.core.parts.Unwrapped;
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
 * A config that comes with the library.
 *
 * @param name its path below {@code configs/}, such as {@code mask_rcnn/swin_tiny_fpn_1x_coco}
 * @param targets what its model learns and predicts
 * @param original the source of its results; empty for recipes of Saccade
 * @param published results by the columns of {@code configs/papers.yaml}, such as {@code box_ap} in
 *     percent, with the decimals of the source
 */
public record Recipe(
        String name,
        TargetKind targets,
        Optional<Original> original,
        Map<String, BigDecimal> published) {

    /** What a config says of prediction, without the rest of it. */
    private record Prediction(
            ModelConfig model,
            @Unwrapped InputSize size,
            @Default(Transform.FOR_PREDICTION) List<Transform> valTransforms,
            @Unwrapped NamedAugmentations views,
            Dataset.Config val) {}

    /** Returns the config with its bases. */
    public ConfigNode.Mapping config() {
        return ConfigFile.packaged(name + ".yaml");
    }

    /** Returns the parts of its model. */
    public ModelConfig model() {
        return Configs.bind(config().get("model").orElseThrow(), ModelConfig.class);
    }

    /**
     * Returns all that must be known besides the weights to use the model of this recipe.
     *
     * @throws SaccadeException of kind user, if its classes are known from the data alone
     */
    public ModelSpec spec() {
        ConfigNode.Mapping config = config();
        Map<String, ConfigNode> entries = new LinkedHashMap<>();
        if (config.get("data").orElse(config) instanceof ConfigNode.Mapping data) {
            for (String key :
                    List.of("image_size", "val_transforms", "views", "val_views", "val")) {
                data.get(key).ifPresent(value -> entries.put(key, value));
            }
        }
        config.get("model").ifPresent(model -> entries.put("model", model));
        Prediction prediction =
                Configs.bind(new ConfigNode.Mapping(entries, config.origin()), Prediction.class);
        List<String> classes = prediction.val().knownClasses();
        if (classes.isEmpty()) {
            throw SaccadeException.user(
                    "%s: its classes are named by its data; expected a checkpoint of a Saccade run,"
                            + " which names them",
                    name);
        }
        return new ModelSpec(
                prediction.model(),
                prediction.size().applyTo(prediction.valTransforms()),
                prediction.views(),
                classes,
                Precision.FLOAT32);
    }
}

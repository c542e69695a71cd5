package dev.saccade.models;

import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableList;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.weights.Weights;
import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.core.Checks;
import dev.saccade.core.OutOfMemory;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.Unwrapped;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.transforms.NamedAugmentations;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All that must be known besides the weights to use a model on a photograph; every checkpoint of a
 * run carries it, so that one file is all there is to a model.
 *
 * @param model the parts of the model
 * @param transforms what is done to a photograph before
 * @param views test-time augmentations by name
 * @param classes the names of the labels, in order
 * @param precision what it was trained in, and predicts in unless told otherwise; its weights are
 *     float32
 */
public record ModelSpec(
        ModelConfig model,
        List<Transform> transforms,
        @Unwrapped NamedAugmentations views,
        List<String> classes,
        @Default("float32") Precision precision) {

    /** The entry of a checkpoint's metadata that describes its model. */
    public static final String KEY = "saccade.model";

    /** Checks the lists, and that all views can be created. */
    public ModelSpec {
        transforms = ImmutableList.copyOf(transforms);
        classes = ImmutableList.copyOf(classes);
        new Checks()
                .size("transforms", transforms, 0, 100)
                .size("classes", classes, 0, 100_000)
                .throwIfAny();
        views.requireFor(transforms);
    }

    /** Describes a float32 model without test-time augmentations. */
    public ModelSpec(ModelConfig model, List<Transform> transforms, List<String> classes) {
        this(model, transforms, NamedAugmentations.NONE, classes, Precision.FLOAT32);
    }

    /** Returns the description of the same model, computing in another precision. */
    public ModelSpec withPrecision(Precision other) {
        return new ModelSpec(model, transforms, views, classes, other);
    }

    /** Returns the entry {@link #KEY} of a checkpoint's metadata. */
    public Map<String, String> toMetadata() {
        return Map.of(KEY, ConfigWriter.yaml(Configs.unbind(this)));
    }

    /**
     * Returns the names of the labels that a checkpoint was made for, none if it does not say; the
     * parts of its model need not be known here.
     *
     * @param metadata the metadata of the checkpoint
     */
    static List<String> classes(Map<String, String> metadata) {
        if (!metadata.containsKey(KEY)) {
            return List.of();
        }
        ConfigNode.Mapping spec = ConfigFile.parse(metadata.get(KEY), KEY);
        return spec.get("classes").stream()
                .filter(ConfigNode.Sequence.class::isInstance)
                .flatMap(names -> ((ConfigNode.Sequence) names).items().stream())
                .filter(ConfigNode.Scalar.class::isInstance)
                .map(name -> ((ConfigNode.Scalar) name).value().toString())
                .toList();
    }

    /**
     * Reads the description of a model from a checkpoint.
     *
     * @param metadata the metadata of the checkpoint
     * @param source the file, for messages
     * @throws SaccadeException of kind user, if there is none, such as in an official checkpoint
     */
    public static ModelSpec fromMetadata(Map<String, String> metadata, String source) {
        return find(metadata, source)
                .orElseThrow(
                        () ->
                                SaccadeException.user(
                                        "%s: holds weights but does not say of which model;"
                                                + " expected a checkpoint of a Saccade run (train"
                                                + " with third-party weights by init_from)",
                                        source));
    }

    /**
     * Reads the description of a model from a checkpoint, if it has one.
     *
     * @param metadata the metadata of the checkpoint
     * @param source the file, for messages
     */
    public static Optional<ModelSpec> find(Map<String, String> metadata, String source) {
        return Optional.ofNullable(metadata.get(KEY))
                .map(text -> ConfigFile.parse(text, source + ", description of the model"))
                .map(spec -> Configs.bind(withNamedAugmentations(spec), ModelSpec.class));
    }

    /** Names the views of older checkpoints, which are null or of one augmentation. */
    private static ConfigNode.Mapping withNamedAugmentations(ConfigNode.Mapping spec) {
        Map<String, ConfigNode> entries = new LinkedHashMap<>(spec.entries());
        entries.computeIfPresent(
                "views",
                (key, views) -> {
                    if (views instanceof ConfigNode.Null) {
                        return null;
                    }
                    return views instanceof ConfigNode.Mapping augmentation
                                    && augmentation.get("scales").orElse(spec)
                                            instanceof ConfigNode.Sequence
                            ? new ConfigNode.Mapping(
                                    Map.of("multi_scale", augmentation), augmentation.origin())
                            : views;
                });
        return new ConfigNode.Mapping(entries, spec.origin());
    }

    /**
     * Returns the model with the weights of a checkpoint, in inference mode.
     *
     * @param source the file of the checkpoint, for messages
     * @param manager owns the weights and gives the device
     * @throws SaccadeException of kind user that shows the differences, if they are not of this
     *     model, or if memory runs out; or says why there can be no such model
     */
    public Model<?> restore(Checkpoint checkpoint, String source, NDManager manager) {
        try {
            return OutOfMemory.LOADING.call(
                    () -> {
                        Model<?> restored = model.build(classes);
                        Weights.restore(checkpoint, restored, manager);
                        restored.train(false);
                        return restored;
                    });
        } catch (SaccadeException e) {
            if (e.kind() != SaccadeException.Kind.USER) {
                throw e;
            }
            throw SaccadeException.user(e, "%s: %s", source, e);
        }
    }
}

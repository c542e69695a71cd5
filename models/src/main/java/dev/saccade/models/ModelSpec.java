package dev.saccade.models;

import static com.google.common.base.Preconditions.checkArgument;

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
import dev.saccade.core.components.Default;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.nn.Quantization;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.datasets.transforms.NamedAugmentations;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Everything that prediction needs besides the weights; stored in every checkpoint.
 *
 * @param transforms transforms of an image before the model
 * @param precision training precision, and the default for prediction; weights are float32
 * @param quantizedLayers dotted names of layers with {@linkplain Quantization smaller products}
 * @param pixels channels and values of the images
 */
public record ModelSpec(
        ModelConfig model,
        List<Transform> transforms,
        @Unwrapped NamedAugmentations tta,
        List<String> classes,
        @Default("float32") Precision precision,
        @Default("[]") List<String> quantizedLayers,
        @Unwrapped PixelFormat pixels) {

    /** Metadata key of a checkpoint's model description. */
    public static final String KEY = "saccade.model";

    public ModelSpec {
        transforms = ImmutableList.copyOf(transforms);
        classes = ImmutableList.copyOf(classes);
        quantizedLayers = ImmutableList.copyOf(quantizedLayers);
        new Checks()
                .size("transforms", transforms, 0, 100)
                .size("classes", classes, 0, 100_000)
                .throwIfAny();
        tta.requireFor(transforms);
        for (Transform transform : transforms) {
            Optional<String> fault = transform.incompatibility(pixels);
            checkArgument(fault.isEmpty(), "transforms: %s", fault.orElse(""));
        }
    }

    /** Creates a float32 description without test-time augmentation. */
    public ModelSpec(ModelConfig model, List<Transform> transforms, List<String> classes) {
        this(model, transforms, NamedAugmentations.NONE, classes, Precision.FLOAT32);
    }

    /** Creates a description for 8-bit RGB without quantized layers. */
    public ModelSpec(
            ModelConfig model,
            List<Transform> transforms,
            NamedAugmentations tta,
            List<String> classes,
            Precision precision) {
        this(model, transforms, tta, classes, precision, List.of(), PixelFormat.RGB);
    }

    /** Returns a copy for images of another format. */
    public ModelSpec withPixels(PixelFormat other) {
        return new ModelSpec(model, transforms, tta, classes, precision, quantizedLayers, other);
    }

    public ModelSpec withPrecision(Precision other) {
        return new ModelSpec(model, transforms, tta, classes, other, quantizedLayers, pixels);
    }

    /** Returns a copy that quantizes these layers; see {@link Quantization#layers}. */
    public ModelSpec withQuantizedLayers(List<String> layers) {
        return new ModelSpec(model, transforms, tta, classes, precision, layers, pixels);
    }

    /** Returns this description as a metadata entry for a checkpoint. */
    public Map<String, String> toMetadata() {
        return Map.of(KEY, ConfigWriter.yaml(Configs.unbind(this)));
    }

    /**
     * Returns the class names in checkpoint metadata, even if a component is unknown; may be empty.
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
     * Reads the model description from checkpoint metadata; {@code source} names the file in
     * messages.
     *
     * @throws SaccadeException of kind user, if the description is missing, as in third-party
     *     weights
     */
    public static ModelSpec fromMetadata(Map<String, String> metadata, String source) {
        return find(metadata, source)
                .orElseThrow(
                        () ->
                                SaccadeException.user(
                                        "%s: contains weights but no model description; expected"
                                                + " a checkpoint of a Saccade run (convert"
                                                + " third-party weights with the recipe of their"
                                                + " model, or train from them with init_from)",
                                        source));
    }

    /** Reads the model description from checkpoint metadata, if there is one. */
    public static Optional<ModelSpec> find(Map<String, String> metadata, String source) {
        return Optional.ofNullable(metadata.get(KEY))
                .map(text -> ConfigFile.parse(text, source + ", model description"))
                .map(spec -> Configs.bind(StoredSpec.current(spec), ModelSpec.class));
    }

    /**
     * Builds the model with the weights of a checkpoint, in inference mode.
     *
     * @throws SaccadeException of kind user, if the weights do not fit (lists the differences),
     *     memory runs out or the settings are invalid
     */
    public Model<?> restore(Checkpoint checkpoint, String source, NDManager manager) {
        try {
            return OutOfMemory.LOADING.call(
                    () -> {
                        Model<?> restored = model.build(classes, pixels.channels());
                        Weights.restore(checkpoint, restored, manager);
                        restored.train(false);
                        Quantization.apply(restored, quantizedLayers);
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

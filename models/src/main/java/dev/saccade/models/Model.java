package dev.saccade.models;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableList;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.StoredClassNames;
import dev.saccade.checkpoint.weights.ClassLayers;
import dev.saccade.checkpoint.weights.LoadReport;
import dev.saccade.checkpoint.weights.StemInit;
import dev.saccade.checkpoint.weights.Weights;
import dev.saccade.core.Checks;
import dev.saccade.core.Libtorch;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.Neck;
import dev.saccade.core.nn.InputLayers;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.MemoryFormat;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.structures.ClassScores;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.loader.Batch;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Network with a backbone, usually a neck, and one or two heads.
 *
 * @param <P> prediction for an image in original pixels: {@link Instances}, a {@link LabelMap} or
 *     {@link ClassScores}
 */
public abstract sealed class Model<P> extends Module
        permits DetectionModel, SegmentationModel, ClassificationModel {

    /** Limit of 40 GB as float32; checked before memory is allocated. */
    private static final long MAX_PARAMETERS = 10_000_000_000L;

    private final ModelConfig config;
    private final int inChannels;

    private final ImmutableList<String> classes;
    private final Backbone backbone;
    private final Optional<Neck> neck;
    private long parameters;

    Model(ModelConfig config, List<String> classes, int inChannels) {
        this.config = config;
        this.inChannels = inChannels;
        this.classes = ImmutableList.copyOf(classes);
        backbone =
                add(
                        "backbone",
                        buildComponent("backbone", () -> build(config.backbone(), inChannels)));
        neck =
                config.neck()
                        .map(part -> buildComponent("neck", () -> part.build(backbone.features())))
                        .map(built -> add("neck", built));
    }

    /**
     * Builds a component; throws if it does not fit the previous component or makes the model too
     * large.
     */
    final <M extends Module> M buildComponent(String part, Supplier<M> build) {
        M module;
        try {
            module = build.get();
        } catch (Checks.InvalidSettings e) {
            throw SaccadeException.user("%s", e.below("model." + part).getMessage());
        } catch (IllegalArgumentException e) {
            throw SaccadeException.user("model.%s: %s", part, e.getMessage());
        }
        parameters += module.parameterCount();
        if (parameters > MAX_PARAMETERS) {
            throw SaccadeException.user(
                    "model.%s: got %d parameters, expected at most %d in the whole model",
                    part, parameters, MAX_PARAMETERS);
        }
        return module;
    }

    private static Backbone build(Backbone.Config config, int inChannels) {
        Backbone backbone = config.build();
        InputLayers.setChannels(backbone, inChannels);
        return backbone;
    }

    public ModelConfig config() {
        return config;
    }

    /** Returns the channels of the images. */
    public int inChannels() {
        return inChannels;
    }

    /** Returns the class names by index. */
    public List<String> classes() {
        return classes;
    }

    public Backbone backbone() {
        return backbone;
    }

    public Optional<Neck> neck() {
        return neck;
    }

    /** Returns channels and stride of each feature level that the head receives. */
    public List<FeatureInfo> levels() {
        return neck.map(Neck::features).orElseGet(backbone::features);
    }

    /** Returns the head's input, a feature pyramid, for pixels {@code [N, C, H, W]}. */
    public FeaturePyramid features(NDArray pixels) {
        return Scope.call(
                () -> {
                    FeaturePyramid maps = backbone.apply(MemoryFormat.channelsLast(pixels));
                    requireChannels(maps, backbone.features(), "backbone", config.backbone());
                    if (neck.isEmpty()) {
                        return maps;
                    }
                    FeaturePyramid levels = neck.get().apply(maps);
                    requireChannels(levels, neck.get().features(), "neck", config.neck().get());
                    return levels;
                },
                FeaturePyramid::levels);
    }

    private static void requireChannels(
            FeaturePyramid maps, List<FeatureInfo> declared, String part, ComponentConfig config) {
        List<Long> got = maps.levels().stream().map(level -> level.getShape().get(1)).toList();
        List<Long> expected = declared.stream().map(level -> (long) level.channels()).toList();
        if (!got.equals(expected)) {
            throw SaccadeException.user(
                    "model.%s: %s returned levels with %s channels, but features() declares %s",
                    part, config.type(), got, expected);
        }
    }

    /** Returns the training losses of a batch; {@code manager} owns all created arrays. */
    public abstract Losses losses(Batch batch, NDManager manager);

    public abstract Class<P> predictionType();

    /** Predicts each image without gradients. The model must be in inference mode. */
    public final List<P> predict(ImageBatch batch) {
        return withoutGradients(() -> inference(batch));
    }

    /**
     * Predicts one image without gradients. Each batch holds one augmented image, such as a flip.
     * The model must be in inference mode.
     */
    public final P predictAugmented(List<ImageBatch> batches) {
        return withoutGradients(() -> inferenceAugmented(batches));
    }

    static <T> T withoutGradients(Supplier<T> inference) {
        return NoGrad.call(() -> Scope.call(inference));
    }

    /** Computes the prediction for each image; see {@link #predict}. */
    abstract List<P> inference(ImageBatch batch);

    /** Predicts and merges the augmentations; see {@link #predictAugmented}. */
    abstract P inferenceAugmented(List<ImageBatch> batches);

    /**
     * Returns the {@linkplain MultiplyAdds multiply-adds} for one image with {@link #dummyObjects}.
     * Excludes the auxiliary head and needs no weights.
     */
    public final long multiplyAdds(Size size) {
        Model<?> copy = config.build(classes, inChannels);
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            copy.initializeZeros(manager);
            copy.train(false);
            copy.fuse();
            NDArray pixels = manager.zeros(new Shape(1, inChannels, size.height(), size.width()));
            return MultiplyAdds.count(
                    () ->
                            withoutGradients(
                                    () -> {
                                        copy.forwardDummy(pixels);
                                        return copy;
                                    }));
        }
    }

    /**
     * Returns the number of objects by type that {@link #multiplyAdds} assumes, such as proposals.
     */
    public abstract Map<String, Integer> dummyObjects();

    /** Runs all layers used for prediction on one image, to count multiply-adds. */
    abstract void forwardDummy(NDArray pixels);

    /** Calls the function for the type of this model and returns its result. */
    public abstract <R> R match(
            Function<? super DetectionModel, R> detection,
            Function<? super SegmentationModel, R> segmentation,
            Function<? super ClassificationModel, R> classification);

    /**
     * Initializes parameters from a checkpoint; see {@link Weights#initialize(Checkpoint, Module)}.
     * Rows of class layers are matched by class name; missing classes keep their initialization.
     */
    public LoadReport initializeFrom(Checkpoint checkpoint) {
        return initializeFrom(checkpoint, StemInit.COPY);
    }

    /**
     * Initializes parameters from a checkpoint.
     *
     * @param stemInit how the first layers are initialized if the checkpoint has other channels
     */
    public LoadReport initializeFrom(Checkpoint checkpoint, StemInit stemInit) {
        List<String> own = ModelSpec.classes(checkpoint.metadata());
        List<String> theirs = own.isEmpty() ? StoredClassNames.of(checkpoint.metadata()) : own;
        return Weights.initialize(
                checkpoint, this, new ClassLayers(classes, theirs, rowsPerClass()), stemInit);
    }

    /** Returns the rows per class of each parameter that grows with the number of classes. */
    private Map<String, Integer> rowsPerClass() {
        Map<String, Parameter> more =
                config.build(Collections.nCopies(classes.size() + 1, "class"), inChannels)
                        .namedParameters();
        Map<String, Integer> rows = new LinkedHashMap<>();
        namedParameters()
                .forEach(
                        (name, parameter) -> {
                            long grown = rows(more.get(name)) - rows(parameter);
                            if (grown > 0) {
                                rows.put(name, Math.toIntExact(grown));
                            }
                        });
        return rows;
    }

    private static long rows(Parameter parameter) {
        Shape shape = parameter.getShape();
        return shape.dimension() == 0 ? 0 : shape.get(0);
    }
}

package dev.saccade.models;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Floats;
import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.ClassActivation;
import dev.saccade.core.components.ClassificationHead;
import dev.saccade.core.nn.InputLayers;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.structures.ClassScores;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.Losses;
import dev.saccade.datasets.loader.Batch;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * Backbone, optional neck and classification head. Parameters of the backbone have the prefix
 * {@code backbone.}; parameters of the head have the names of the official classifiers, such as
 * {@code norm.weight} and {@code head.weight}.
 */
public final class ClassificationModel extends Model<ClassScores> {

    private final ClassificationHead head;
    private final ClassActivation activation;

    /**
     * Creates a classifier without weights.
     *
     * @throws SaccadeException of kind user, if a component does not fit the previous one
     */
    public ClassificationModel(ModelConfig config, List<String> classes) {
        this(config, classes, InputLayers.RGB);
    }

    /** Creates a model of images with any number of channels, without weights. */
    public ClassificationModel(ModelConfig config, List<String> classes, int inChannels) {
        super(config, classes, inChannels);
        ClassificationHead.Config part = (ClassificationHead.Config) config.head();
        activation = part.activation();
        head = add("", buildComponent("head", () -> part.build(levels(), classes().size())));
    }

    public ClassificationHead head() {
        return head;
    }

    /** Returns logits {@code [N, K]} for pixels {@code [N, 3, H, W]}. */
    public NDArray logits(NDArray pixels) {
        return Scope.array(() -> head.logits(features(pixels)));
    }

    @Override
    public Class<ClassScores> predictionType() {
        return ClassScores.class;
    }

    @Override
    public <R> R match(
            Function<? super DetectionModel, R> detection,
            Function<? super SegmentationModel, R> segmentation,
            Function<? super ClassificationModel, R> classification) {
        return classification.apply(this);
    }

    @Override
    public Losses losses(Batch batch, NDManager manager) {
        return losses(batch.to(manager), batch.classTargets(classes().size(), manager));
    }

    /**
     * Returns the training losses.
     *
     * @param targets {@code [N, K]} float32 class distribution of each image
     */
    public Losses losses(ImageBatch batch, NDArray targets) {
        return Scope.losses(() -> head.losses(features(batch.pixels()), targets));
    }

    @Override
    List<ClassScores> inference(ImageBatch batch) {
        return scores(probabilities(batch.pixels(), this::logits));
    }

    /** {@inheritDoc} Returns the mean of the probabilities. */
    @Override
    ClassScores inferenceAugmented(List<ImageBatch> batches) {
        NDArray sum = null;
        for (ImageBatch batch : batches) {
            checkArgument(batch.size() == 1, "batch: got %s images, expected 1", batch.size());
            NDArray one = probabilities(batch.pixels(), this::logits);
            sum = sum == null ? one : sum.add(one);
        }
        return scores(Functional.div(sum, batches.size())).get(0);
    }

    /** Returns the probabilities of each image of a batch. */
    List<ClassScores> scores(FeaturePyramid features) {
        return scores(activation.of(head.logits(features).toType(DataType.FLOAT32, false)));
    }

    /** Predicts with another runtime; {@code network} returns logits {@code [N, K]}. */
    public List<ClassScores> predict(ImageBatch batch, UnaryOperator<NDArray> network) {
        return withoutGradients(() -> scores(probabilities(batch.pixels(), network)));
    }

    private NDArray probabilities(NDArray pixels, UnaryOperator<NDArray> network) {
        return activation.of(network.apply(pixels).toType(DataType.FLOAT32, false));
    }

    private static List<ClassScores> scores(NDArray probabilities) {
        int classes = Math.toIntExact(probabilities.getShape().get(1));
        List<Float> values = Floats.asList(Tensors.readFloats(probabilities));
        if (!values.stream().allMatch(Float::isFinite)) {
            throw SaccadeException.user(
                    "the model predicts NaN or infinity because training diverged; lower"
                            + " optimizer.learning_rate, lengthen schedule.warmup or set"
                            + " max_gradient_norm, and train again");
        }
        List<ClassScores> scores = new ArrayList<>();
        for (int start = 0; start < values.size(); start += classes) {
            scores.add(
                    new ClassScores(
                            ImmutableDoubleArray.copyOf(
                                    values.subList(start, start + classes).stream()
                                            .mapToDouble(Float::doubleValue))));
        }
        return ImmutableList.copyOf(scores);
    }

    @Override
    public NDList call(NDList inputs) {
        return new NDList(logits(inputs.singletonOrThrow()));
    }

    @Override
    public Map<String, Integer> dummyObjects() {
        return Map.of();
    }

    @Override
    void forwardDummy(NDArray pixels) {
        logits(pixels);
    }
}

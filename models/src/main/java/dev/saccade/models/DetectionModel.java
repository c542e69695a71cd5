package dev.saccade.models;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.DetectionHead;
import dev.saccade.core.components.ExportableHead;
import dev.saccade.core.nn.InputLayers;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.datasets.loader.Batch;

import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Backbone, neck and detection head; parameter names equal mmdetection's. */
public final class DetectionModel extends Model<Instances> {

    private final DetectionHead head;

    /**
     * Creates a detector without weights.
     *
     * @throws SaccadeException of kind user, if a component does not fit the previous one
     */
    public DetectionModel(ModelConfig config, List<String> classes) {
        this(config, classes, InputLayers.RGB);
    }

    /** Creates a model of images with any number of channels, without weights. */
    public DetectionModel(ModelConfig config, List<String> classes, int inChannels) {
        super(config, classes, inChannels);
        DetectionHead.Config part = (DetectionHead.Config) config.head();
        head = add("", buildComponent("head", () -> part.build(levels(), classes.size())));
    }

    public DetectionHead head() {
        return head;
    }

    @Override
    public Class<Instances> predictionType() {
        return Instances.class;
    }

    @Override
    public <R> R match(
            Function<? super DetectionModel, R> detection,
            Function<? super SegmentationModel, R> segmentation,
            Function<? super ClassificationModel, R> classification) {
        return detection.apply(this);
    }

    @Override
    public Losses losses(Batch batch, NDManager manager) {
        ImageBatch images = batch.to(manager);
        return config().head().targets().hasLabelMaps()
                ? losses(images, batch.targets(), batch.labels(manager))
                : losses(images, batch.targets());
    }

    /**
     * Returns the training losses of normalized images; boxes are in pixels of the network input,
     * and masks have the padded size.
     */
    public Losses losses(ImageBatch batch, List<Instances> targets) {
        return Scope.losses(() -> head.losses(features(batch.pixels()), batch.images(), targets));
    }

    /**
     * Returns the training losses of a batch with label maps {@code [N, H, W]} int64; see {@link
     * DetectionHead#losses(dev.saccade.core.structures.FeaturePyramid, List, List, NDArray)}.
     */
    public Losses losses(ImageBatch batch, List<Instances> targets, NDArray labels) {
        return Scope.losses(
                () -> head.losses(features(batch.pixels()), batch.images(), targets, labels));
    }

    @Override
    List<Instances> inference(ImageBatch batch) {
        return head.predict(features(batch.pixels()), batch.images());
    }

    /**
     * {@inheritDoc}
     *
     * <p>As in mmdetection, a single augmentation is predicted like an image without augmentation.
     * Two-stage heads process every augmentation twice, so all feature pyramids stay in memory,
     * each 92 MB for 800 x 1344 with 256 channels from stride 4.
     */
    @Override
    Instances inferenceAugmented(List<ImageBatch> batches) {
        if (batches.size() == 1) {
            return inference(batches.get(0)).get(0);
        }
        return head.predictAugmented(
                batches.stream().map(batch -> features(batch.pixels())).toList(),
                batches.stream().map(batch -> batch.images().get(0)).toList());
    }

    /** Returns the head; throws if it does not support export. */
    public ExportableHead exportableHead() {
        if (head instanceof ExportableHead exportable) {
            return exportable;
        }
        throw SaccadeException.user(
                "%s: cannot be exported; implement ExportableHead",
                head.getClass().getSimpleName());
    }

    @Override
    public Map<String, Integer> dummyObjects() {
        return head.dummyObjects();
    }

    @Override
    void forwardDummy(NDArray pixels) {
        head.forwardDummy(features(pixels));
    }

    @Override
    public NDList call(NDList inputs) {
        return head.call(new NDList(features(inputs.singletonOrThrow()).levels()));
    }
}

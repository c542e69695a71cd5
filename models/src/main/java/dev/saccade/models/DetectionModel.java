package dev.saccade.models;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.parts.DetectionHead;
import dev.saccade.core.parts.ExportableHead;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.datasets.loader.Batch;

import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Backbone, neck and head as one: images to losses in training, to objects in inference.
 *
 * <p>Parameters are named as in mmdetection's checkpoints: {@code backbone.*}, {@code neck.*} and
 * those of the head.
 */
public final class DetectionModel extends Model<Instances> {

    private final DetectionHead head;

    /**
     * Makes a detector without weights.
     *
     * @param config its parts; the head is one of detection
     * @param classes the names of the labels, in order
     * @throws SaccadeException of kind user that names the part, if one does not fit the one before
     */
    public DetectionModel(ModelConfig config, List<String> classes) {
        super(config, classes);
        DetectionHead.Config part = (DetectionHead.Config) config.head();
        head = add("", built("head", () -> part.build(levels(), classes.size())));
    }

    /** Returns the head. */
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
            Function<? super SegmentationModel, R> segmentation) {
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
     * Returns the training losses of a batch.
     *
     * @param batch normalized images
     * @param targets boxes in the coordinates of the batch, and labels, of each image; masks of its
     *     padded size if the head is trained on them
     */
    public Losses losses(ImageBatch batch, List<Instances> targets) {
        return Scope.losses(() -> head.losses(features(batch.pixels()), batch.images(), targets));
    }

    /**
     * Returns the training losses of a batch with label maps, see {@link
     * DetectionHead#losses(dev.saccade.core.structures.FeaturePyramid, List, List, NDArray)}.
     *
     * @param batch normalized images
     * @param targets the objects of each image
     * @param labels {@code [N, H, W]} int64, the class of every pixel of the batch
     */
    public Losses losses(ImageBatch batch, List<Instances> targets, NDArray labels) {
        return Scope.losses(
                () -> head.losses(features(batch.pixels()), batch.images(), targets, labels));
    }

    /** Returns the objects of each image, in the coordinates of the original image. */
    @Override
    List<Instances> inference(ImageBatch batch) {
        return head.predict(features(batch.pixels()), batch.images());
    }

    /**
     * {@inheritDoc}
     *
     * <p>As in mmdetection, a single view has nothing to merge.
     *
     * <p>Two-stage heads process every view twice, so the pyramids of all views are held until the
     * end: with 256 channels from stride 4 on, 85 bytes a pixel, or 92 MB for a view of 800 by
     * 1344.
     */
    @Override
    Instances inferenceOfViews(List<ImageBatch> views) {
        if (views.size() == 1) {
            return inference(views.get(0)).get(0);
        }
        return head.predictAugmented(
                views.stream().map(view -> features(view.pixels())).toList(),
                views.stream().map(view -> view.images().get(0)).toList());
    }

    /**
     * Returns the head, if it can be exported.
     *
     * @throws SaccadeException of kind user, if it cannot
     */
    public ExportableHead exportableHead() {
        if (head instanceof ExportableHead exportable) {
            return exportable;
        }
        throw SaccadeException.user(
                "%s: cannot be exported, as it does not implement ExportableHead",
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

package dev.saccade.models;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.parts.DetectionHead;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
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
        ImageBatch images = batch.on(manager);
        return config().head().targets().hasLabelMaps()
                ? losses(images, batch.targets(), batch.labels(manager))
                : losses(images, batch.targets());
    }

    /**
     * Returns the training losses of a batch.
     *
     * @param batch normalized images
     * @param targets boxes in the coordinates of the batch, and labels, of each image; masks of its
     *     padded size if the head learns them
     */
    public Losses losses(ImageBatch batch, List<Instances> targets) {
        return Scope.call(
                () -> head.losses(features(batch.pixels()), batch.images(), targets),
                Losses::scalars);
    }

    /**
     * Returns the training losses of a batch whose pixels have classes, too, see {@link
     * DetectionHead#losses(dev.saccade.core.structures.FeaturePyramid, List, List, NDArray)}.
     *
     * @param batch normalized images
     * @param targets the objects of each image
     * @param labels {@code [N, H, W]} int64, the class of every pixel of the batch
     */
    public Losses losses(ImageBatch batch, List<Instances> targets, NDArray labels) {
        return Scope.call(
                () -> head.losses(features(batch.pixels()), batch.images(), targets, labels),
                Losses::scalars);
    }

    /**
     * Returns the objects of each image, in the coordinates of the original image, without
     * recording gradients. The detector must be in inference mode.
     */
    @Override
    public List<Instances> predict(ImageBatch batch) {
        return NoGrad.call(() -> head.predict(features(batch.pixels()), batch.images()));
    }

    /**
     * Returns the objects of one image, in its own coordinates, from several views of it, without
     * recording gradients. The detector must be in inference mode.
     *
     * <p>As in mmdetection, a single view is that of {@link #predict}, with nothing to merge.
     *
     * <p>Heads of several stages look at every view more than once, so the pyramids of all views
     * are held until the end: with 256 channels from stride 4 on, 85 bytes a pixel, or 92 MB for a
     * view of 800 by 1344. Besides them, only the pixels of the views stay.
     *
     * @param views batches of one, such as scales and mirror images
     */
    @Override
    public Instances predictViews(List<ImageBatch> views) {
        if (views.size() == 1) {
            return predict(views.get(0)).get(0);
        }
        return NoGrad.call(
                () ->
                        head.predictViews(
                                views.stream().map(view -> features(view.pixels())).toList(),
                                views.stream().map(view -> view.images().get(0)).toList()));
    }

    /**
     * Returns the objects of each image, in the coordinates of the original image, of what {@link
     * DetectionHead#detect} has returned, maybe in another program.
     */
    public List<Instances> objects(NDList detected, List<ImageInfo> images) {
        return Scope.call(() -> head.objects(detected, images));
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

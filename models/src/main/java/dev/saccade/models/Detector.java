package dev.saccade.models;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.MemoryFormat;
import dev.saccade.core.ops.NoGrad;
import dev.saccade.core.parts.Backbone;
import dev.saccade.core.parts.DetectionHead;
import dev.saccade.core.parts.Neck;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.models.checkpoint.Checkpoint;
import dev.saccade.models.checkpoint.ClassLayers;
import dev.saccade.models.checkpoint.LoadReport;
import dev.saccade.models.checkpoint.Weights;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Backbone, neck and head as one: images to losses in training, to objects in inference.
 *
 * <p>Parameters are named as in mmdetection's checkpoints: {@code backbone.*}, {@code neck.*} and
 * those of the head.
 */
public final class Detector extends Module {

    private final DetectionHead.Config headConfig;
    private final ImmutableList<String> classes;
    private final Backbone backbone;
    private final Neck neck;
    private final DetectionHead head;

    /**
     * Makes a detector without weights.
     *
     * @param config its parts
     * @param classes the names of the labels, in order
     * @throws SaccadeException of kind user that names the part, if one does not fit the one before
     */
    public Detector(ModelConfig config, List<String> classes) {
        this.headConfig = config.head();
        this.classes = ImmutableList.copyOf(classes);
        backbone = add("backbone", built("backbone", () -> config.backbone().build()));
        neck = add("neck", built("neck", () -> config.neck().build(backbone.features())));
        head = add("", built("head", () -> config.head().build(neck.features(), classes.size())));
    }

    private static <M extends Module> M built(String part, Supplier<M> build) {
        try {
            return build.get();
        } catch (IllegalArgumentException e) {
            throw SaccadeException.user("model.%s: %s", part, e.getMessage());
        }
    }

    /** Returns the names of the labels, in order. */
    public List<String> classes() {
        return classes;
    }

    /** Returns the backbone. */
    public Backbone backbone() {
        return backbone;
    }

    /** Returns the neck. */
    public Neck neck() {
        return neck;
    }

    /** Returns the head. */
    public DetectionHead head() {
        return head;
    }

    /**
     * Sets the values that a checkpoint has, to start training from; see {@link
     * Weights#initialize(Checkpoint, Module)}. Layers with rows for every class keep their own
     * where the checkpoint has other classes, by their number or by their names.
     *
     * @throws SaccadeException of kind user that shows the differences, if less than half of the
     *     checkpoint finds a place
     */
    public LoadReport initializeFrom(Checkpoint checkpoint) {
        List<String> theirs = DetectorSpec.classes(checkpoint.metadata());
        return Weights.initialize(
                checkpoint, this, new ClassLayers(classes, theirs, rowsPerClass()));
    }

    /** Returns by how many rows each parameter would grow with one more class, if it would. */
    private Map<String, Integer> rowsPerClass() {
        Map<String, Parameter> more =
                headConfig.build(neck.features(), classes.size() + 1).namedParameters();
        Map<String, Integer> rows = new LinkedHashMap<>();
        head.namedParameters()
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

    /**
     * Returns the pyramid that the head is given.
     *
     * @param pixels {@code [N, 3, H, W]}
     */
    public FeaturePyramid features(NDArray pixels) {
        NDArray images = MemoryFormat.channelsLast(pixels);
        FeaturePyramid maps = backbone.forward(images);
        images.close();
        FeaturePyramid pyramid = neck.forward(maps);
        maps.levels().stream()
                .filter(map -> pyramid.levels().stream().noneMatch(level -> level == map))
                .forEach(NDArray::close);
        return pyramid;
    }

    /**
     * Returns the training losses of a batch.
     *
     * @param batch normalised images
     * @param targets boxes in the coordinates of the batch, and labels, of each image; masks of its
     *     padded size if the head learns them
     */
    public Losses losses(ImageBatch batch, List<Instances> targets) {
        FeaturePyramid pyramid = features(batch.pixels());
        Losses losses = head.losses(pyramid, batch.images(), targets);
        pyramid.levels().forEach(NDArray::close);
        return losses;
    }

    /**
     * Returns the objects of each image, in the coordinates of the original image, without
     * recording gradients. The detector must be in inference mode.
     */
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

    @Override
    public NDList call(NDList inputs) {
        return head.call(new NDList(features(inputs.singletonOrThrow()).levels()));
    }
}

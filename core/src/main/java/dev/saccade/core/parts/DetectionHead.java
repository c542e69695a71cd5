package dev.saccade.core.parts;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.nn.Module;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Losses;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Turns a pyramid into losses or into objects. The model that calls it frees all arrays and turns
 * gradients off in inference. A head that can be exported implements {@link ExportableHead}.
 */
public abstract class DetectionHead extends Module {

    /** Objects of different views that overlap more are the same object. */
    private static final double VIEWS_IOU = 0.5;

    /**
     * The hyper-parameters of a head, and what builds it.
     *
     * <p>To bring one of your own, implement this with a record and list the record in a {@link
     * PartProvider}.
     */
    public interface Config extends HeadConfig {

        /**
         * Returns a head without weights.
         *
         * @param features the levels it will be given
         * @param numClasses number of classes, background not counted
         */
        DetectionHead build(List<FeatureInfo> features, int numClasses);

        /** Returns whether the head learns and predicts masks; if not, targets need none. */
        default boolean hasMasks() {
            return false;
        }

        @Override
        default TargetKind targets() {
            if (semanticClasses() > 0) {
                return TargetKind.MASKS_AND_LABEL_MAPS;
            }
            return hasMasks() ? TargetKind.MASKS : TargetKind.BOXES;
        }
    }

    /**
     * Returns the training losses of a batch.
     *
     * @param features the pyramid of the batch
     * @param images what happened to each image
     * @param targets boxes (in the coordinates of the network input) and labels of each image, and
     *     masks of its padded size if the head {@link Config#hasMasks}; images without objects are
     *     background
     */
    public abstract Losses losses(
            FeaturePyramid features, List<ImageInfo> images, List<Instances> targets);

    /**
     * Returns the training losses of a batch whose pixels have classes, too; of the objects alone
     * unless the head has {@link Config#semanticClasses}.
     *
     * @param features the pyramid of the batch
     * @param images what happened to each image
     * @param targets the objects of each image
     * @param labels {@code [N, H, W]} int64, the class of every pixel of the network input, or
     *     {@link LabelMap#IGNORE}
     */
    public Losses losses(
            FeaturePyramid features,
            List<ImageInfo> images,
            List<Instances> targets,
            NDArray labels) {
        return losses(features, images, targets);
    }

    /**
     * Returns the objects of each image, in the coordinates of the original image; with masks of
     * its size if the head {@link Config#hasMasks}.
     *
     * @param features the pyramid of the batch
     * @param images what happened to each image
     */
    public abstract List<Instances> predict(FeaturePyramid features, List<ImageInfo> images);

    /**
     * Runs the layers of a prediction, to count multiply-adds; as mmdetection's {@code
     * forward_dummy}. By default calls {@link #call}.
     *
     * <p>A head whose cost depends on the number of objects, such as a second stage, overrides this
     * and {@link #dummyObjects}.
     *
     * @param features pyramid of one image
     */
    public void forwardDummy(FeaturePyramid features) {
        call(new NDList(features.levels()));
    }

    /** Returns how many objects of each type {@link #forwardDummy} uses, such as proposals. */
    public Map<String, Integer> dummyObjects() {
        return Map.of();
    }

    /**
     * Returns the objects of one image, in its own coordinates, merged from several views of it,
     * such as scales and horizontal flips.
     *
     * <p>By default predicts each view and drops objects that overlap a better one of their class
     * by an IoU of more than 0.5, like mmdetection's {@code DetTTAModel}.
     *
     * @param views the pyramid of each view, a batch of one
     * @param images what happened to the image in each view
     */
    public Instances predictAugmented(List<FeaturePyramid> views, List<ImageInfo> images) {
        List<Instances> predicted = new ArrayList<>();
        for (int v = 0; v < views.size(); v++) {
            predicted.addAll(predict(views.get(v), List.of(images.get(v))));
        }
        return Instances.merge(predicted, VIEWS_IOU);
    }
}

package dev.saccade.core.components;

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
 * Computes losses or objects from a feature pyramid. The calling model frees arrays and disables
 * gradients in inference. Heads that can be exported implement {@link ExportableHead}.
 */
public abstract class DetectionHead extends Module {

    /** IoU threshold of the NMS that merges augmented predictions. */
    private static final double TTA_IOU = 0.5;

    /** Settings and factory of a head: a record that a {@link ComponentProvider} lists. */
    public interface Config extends HeadConfig {

        /** Creates a head without weights for these input levels; background is not a class. */
        DetectionHead build(List<FeatureInfo> features, int numClasses);

        /** Returns whether the head predicts masks and needs them for training. */
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
     * @param targets boxes (in network input coordinates) and labels of each image, and masks of
     *     its padded size if the head {@link Config#hasMasks}; images without objects are
     *     background
     */
    public abstract Losses losses(
            FeaturePyramid features, List<ImageInfo> images, List<Instances> targets);

    /**
     * Returns the training losses of a batch with label maps, which are ignored by default.
     *
     * @param targets objects of each image
     * @param labels {@code [N, H, W]} int64, class index of every input pixel or {@link
     *     LabelMap#IGNORE}
     */
    public Losses losses(
            FeaturePyramid features,
            List<ImageInfo> images,
            List<Instances> targets,
            NDArray labels) {
        return losses(features, images, targets);
    }

    /**
     * Returns the objects of each image in original image coordinates, with masks of the original
     * size if the head {@link Config#hasMasks}.
     */
    public abstract List<Instances> predict(FeaturePyramid features, List<ImageInfo> images);

    /**
     * Runs the layers for one image to count multiply-adds, like mmdetection's {@code
     * forward_dummy}. By default calls {@link #call}; two-stage heads override this and {@link
     * #dummyObjects}.
     */
    public void forwardDummy(FeaturePyramid features) {
        call(new NDList(features.levels()));
    }

    /** Returns how many objects of each type, such as proposals, {@link #forwardDummy} uses. */
    public Map<String, Integer> dummyObjects() {
        return Map.of();
    }

    /**
     * Predicts with test-time augmentation: merges the objects of several versions of an image.
     * Each version is a batch of one. Boxes are in original image coordinates.
     *
     * <p>By default, predicts each version and applies NMS per class at IoU 0.5, like mmdetection's
     * {@code DetTTAModel}.
     */
    public Instances predictAugmented(List<FeaturePyramid> pyramids, List<ImageInfo> images) {
        List<Instances> predicted = new ArrayList<>();
        for (int v = 0; v < pyramids.size(); v++) {
            predicted.addAll(predict(pyramids.get(v), List.of(images.get(v))));
        }
        return Instances.merge(predicted, TTA_IOU);
    }
}

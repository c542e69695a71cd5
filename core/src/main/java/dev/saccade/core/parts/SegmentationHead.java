package dev.saccade.core.parts;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.nn.Module;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Losses;

import java.util.List;

/** Turns a pyramid into a score of every class for every cell of a grid. */
public abstract class SegmentationHead extends Module {

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
         * @param numClasses number of classes
         */
        SegmentationHead build(List<FeatureInfo> features, int numClasses);

        @Override
        default TargetKind targets() {
            return TargetKind.LABEL_MAPS;
        }
    }

    /**
     * Returns the scores before softmax.
     *
     * @return {@code [N, K, h, w]}, usually at the stride of the finest level
     */
    public abstract NDArray logits(FeaturePyramid features);

    /**
     * Returns whether the scores are to be resized with the centers of the corner cells on one
     * another, PyTorch's {@code align_corners}.
     */
    public boolean alignsCorners() {
        return false;
    }

    /**
     * Returns the training losses of a batch.
     *
     * @param labels {@code [N, H, W]} int64, the class of every pixel of the network input, or
     *     {@link LabelMap#IGNORE}
     */
    public abstract Losses losses(FeaturePyramid features, NDArray labels);

    @Override
    public final NDList call(NDList inputs) {
        return new NDList(logits(new FeaturePyramid(inputs)));
    }
}

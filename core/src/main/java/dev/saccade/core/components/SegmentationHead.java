package dev.saccade.core.components;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.nn.Module;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Losses;

import java.util.List;

/** Computes the class scores of every cell from a feature pyramid. */
public abstract class SegmentationHead extends Module {

    /** Settings and factory of a head: a record that a {@link ComponentProvider} lists. */
    public interface Config extends HeadConfig {

        /** Creates a head without weights for these input levels. */
        SegmentationHead build(List<FeatureInfo> features, int numClasses);

        @Override
        default TargetKind targets() {
            return TargetKind.LABEL_MAPS;
        }
    }

    /** Returns {@code [N, K, h, w]} scores before softmax, usually at the finest stride. */
    public abstract NDArray logits(FeaturePyramid features);

    /** Returns the {@code align_corners} option for resizing the scores. */
    public boolean alignsCorners() {
        return false;
    }

    /**
     * Returns the training losses of a batch with {@code [N, H, W]} int64 labels of every input
     * pixel, class indices or {@link LabelMap#IGNORE}.
     */
    public abstract Losses losses(FeaturePyramid features, NDArray labels);

    @Override
    public final NDList call(NDList inputs) {
        return new NDList(logits(new FeaturePyramid(inputs)));
    }
}

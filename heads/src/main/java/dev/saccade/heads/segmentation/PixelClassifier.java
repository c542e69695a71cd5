package dev.saccade.heads.segmentation;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.Dropout2d;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.parts.FeatureInfo;

import java.util.List;

/**
 * What all segmentation heads end with: dropout of whole channels, and a 1x1 convolution named
 * {@code conv_seg} that scores the classes.
 */
final class PixelClassifier extends Layer {

    private final Dropout2d dropout;
    private final Conv2d convSeg;

    /** Makes a classifier without weights. */
    PixelClassifier(int channels, int numClasses, double dropoutRatio) {
        checkArgument(numClasses > 0, "num_classes: got %s, expected > 0", numClasses);
        dropout = add("dropout", new Dropout2d(dropoutRatio));
        Geometry scores = new Geometry(channels, numClasses, 1);
        convSeg = add("conv_seg", new Conv2d(scores, WeightInit.normal(0.01)));
    }

    /**
     * Returns {@code [N, K, H, W]} scores of {@code [N, C, H, W]}, float32 whatever the layers
     * compute in.
     */
    @Override
    protected NDArray forward(NDArray x) {
        return Tensors.toFloat32(convSeg.apply(dropout.apply(x)));
    }

    /** Starts the checks of a config with those of the values that all segmentation heads have. */
    static Checks checks(int channels, double dropoutRatio) {
        return new Checks()
                .within("channels", channels, 1, 8192)
                .below("dropout_ratio", dropoutRatio, 0, 1);
    }

    /** Returns the chosen levels; fails if one is not there. */
    static List<FeatureInfo> select(List<FeatureInfo> features, List<Integer> inIndex) {
        for (int level : inIndex) {
            Checks.require(
                    level < features.size(),
                    "in_index",
                    level,
                    "less than the %s levels",
                    features.size());
        }
        return inIndex.stream().map(features::get).toList();
    }
}

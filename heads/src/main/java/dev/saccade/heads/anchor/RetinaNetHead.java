package dev.saccade.heads.anchor;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.heads.box.GtInstances;

import java.util.List;

/**
 * RetinaNet head (Lin et al. 2017), like mmdetection's {@code RetinaHead} or torchvision's {@code
 * RetinaNetHead}.
 */
public final class RetinaNetHead extends DenseHead {

    /**
     * Settings of a RetinaNet head.
     *
     * @param avgPerImage whether the losses of each image are divided by its number of positive
     *     anchors and then averaged over the images, as in torchvision, instead of dividing the
     *     losses of a batch by its number of positive anchors
     * @param nmsPrePairs whether {@code nms_pre} counts (anchor, class) pairs, as in torchvision
     *     and mmdetection 3, instead of anchors
     */
    @Component("retinanet")
    public record Config(
            @Unwrapped DenseHead.Settings settings,
            @Default("false") boolean avgPerImage,
            @Default("false") boolean nmsPrePairs)
            implements DenseHead.Config {

        @Override
        public CheckpointRules checkpointRules() {
            return RetinaNetCheckpoints.RULES;
        }

        @Override
        public RetinaNetHead build(List<FeatureInfo> features, int numClasses) {
            return new RetinaNetHead(this, features, numClasses);
        }
    }

    private final Config config;

    public RetinaNetHead(Config config, List<FeatureInfo> features, int numClasses) {
        super("retina", config.settings(), features, numClasses);
        this.config = config;
    }

    @Override
    public AnchorTargets targets(
            AnchorGrid grid, List<ImageInfo> images, List<GtInstances> objects) {
        AnchorTargets targets = super.targets(grid, images, objects);
        return config.avgPerImage() ? targets.averagedPerImage() : targets;
    }

    @Override
    protected boolean ranksByLogits() {
        return !config.nmsPrePairs();
    }

    @Override
    protected NDList top(NDList maps, NDArray anchors, int nmsPre) {
        if (!config.nmsPrePairs()) {
            return super.top(maps, anchors, nmsPre);
        }
        return new NDList(
                TopAnchors.pairsOfLevel(scores(maps), rows(maps.get(1), 4), anchors, nmsPre, 0)
                        .subList(0, 3));
    }
}

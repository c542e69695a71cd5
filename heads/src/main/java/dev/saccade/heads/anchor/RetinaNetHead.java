package dev.saccade.heads.anchor;

import dev.saccade.core.components.Component;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.core.conversion.CheckpointRules;

import java.util.List;

/** RetinaNet head (Lin et al. 2017), like mmdetection's {@code RetinaHead}. */
public final class RetinaNetHead extends DenseHead {

    @Component("retinanet")
    public record Config(@Unwrapped DenseHead.Settings settings) implements DenseHead.Config {

        @Override
        public CheckpointRules checkpointRules() {
            return RetinaNetCheckpoints.RULES;
        }

        @Override
        public RetinaNetHead build(List<FeatureInfo> features, int numClasses) {
            return new RetinaNetHead(this, features, numClasses);
        }
    }

    public RetinaNetHead(Config config, List<FeatureInfo> features, int numClasses) {
        super("retina", config.settings(), features, numClasses);
    }

    @Override
    protected boolean ranksByLogits() {
        return true;
    }
}

package dev.saccade.necks;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.Neck;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.ArrayList;
import java.util.List;

/**
 * Applies necks in order, such as FPN, then DyHead. As in mmdetection, checkpoints name each neck
 * by its position.
 */
public final class SequentialNeck extends Neck {

    @Component("sequential")
    public record Config(@Default("[{type: fpn}]") List<Neck.Config> necks) implements Neck.Config {

        public Config {
            necks = ImmutableList.copyOf(necks);
            new Checks().size("necks", necks, 1, 16).throwIfAny();
        }

        @Override
        public SequentialNeck build(List<FeatureInfo> features) {
            return new SequentialNeck(this, features);
        }
    }

    private final List<Neck> necks = new ArrayList<>();

    /**
     * Creates the uninitialized necks.
     *
     * @throws IllegalArgumentException that names a neck, if it does not fit the previous neck
     */
    public SequentialNeck(Config config, List<FeatureInfo> inputs) {
        List<FeatureInfo> features = inputs;
        for (Neck.Config part : config.necks()) {
            Neck neck = add(Integer.toString(necks.size()), build(part, features, necks.size()));
            necks.add(neck);
            features = neck.features();
        }
    }

    private static Neck build(Neck.Config part, List<FeatureInfo> features, int position) {
        try {
            return part.build(features);
        } catch (Checks.InvalidSettings e) {
            throw e.below("necks[" + position + "]");
        }
    }

    public List<Neck> necks() {
        return ImmutableList.copyOf(necks);
    }

    @Override
    public List<FeatureInfo> features() {
        return necks.get(necks.size() - 1).features();
    }

    @Override
    protected FeaturePyramid forward(FeaturePyramid inputs) {
        FeaturePyramid pyramid = inputs;
        for (Neck neck : necks) {
            pyramid = neck.apply(pyramid);
        }
        return pyramid;
    }
}

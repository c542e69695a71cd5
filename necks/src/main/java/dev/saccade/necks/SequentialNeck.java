package dev.saccade.necks;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.FeatureInfo;
import dev.saccade.core.parts.Neck;
import dev.saccade.core.parts.Part;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.ArrayList;
import java.util.List;

/**
 * Necks one after another, such as DyHead behind an FPN; named in checkpoints by their position, as
 * mmdetection names a list of necks.
 */
public final class SequentialNeck extends Neck {

    /**
     * The necks.
     *
     * @param necks the first is given the levels of the backbone, each other those of the one
     *     before
     */
    @Part("sequential")
    public record Config(@Default("[{type: fpn}]") List<Neck.Config> necks) implements Neck.Config {

        /** Checks that there are some. */
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
     * Makes necks without weights.
     *
     * @throws IllegalArgumentException that names the neck, if one does not fit the one before
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

    /** Returns the necks, the first first. */
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

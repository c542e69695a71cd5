package dev.saccade.examples.components;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.Neck;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.ArrayList;
import java.util.List;

/** A neck that maps all levels to the same number of channels. */
public final class ChannelMapper extends Neck {

    @Component("channel_mapper")
    public record Config(@Default("256") int outChannels, @Default("1") double beta)
            implements Neck.Config {

        public Config {
            new Checks()
                    .inRange("out_channels", outChannels, 1, 8192)
                    .above("beta", beta, 0, 100)
                    .throwIfAny();
        }

        @Override
        public ChannelMapper build(List<FeatureInfo> features) {
            return new ChannelMapper(this, features);
        }
    }

    private final double beta;
    private final List<Conv2d> convs = new ArrayList<>();
    private final List<FeatureInfo> features = new ArrayList<>();

    private ChannelMapper(Config config, List<FeatureInfo> inputs) {
        beta = config.beta();
        int out = config.outChannels();
        for (FeatureInfo input : inputs) {
            Geometry geometry = new Geometry(input.channels(), out, 3).padding(1);
            Conv2d conv = new Conv2d(geometry, WeightInit.xavierUniform());
            convs.add(add("convs." + convs.size(), conv));
            features.add(new FeatureInfo(out, input.stride()));
        }
    }

    @Override
    public List<FeatureInfo> features() {
        return features;
    }

    @Override
    protected FeaturePyramid forward(FeaturePyramid inputs) {
        List<NDArray> outputs = new ArrayList<>();
        for (int i = 0; i < convs.size(); i++) {
            Conv2d conv = convs.get(i);
            NDArray input = inputs.get(i);
            outputs.add(Swish.activate(conv.apply(input), beta));
        }
        return new FeaturePyramid(outputs);
    }
}

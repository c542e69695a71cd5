package dev.saccade.examples;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.nn.BatchNorm2d;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.ArrayList;
import java.util.List;

/**
 * A custom backbone: MobileNet (Howard et al. 2017), alternating depthwise and pointwise
 * convolutions. {@link ExampleComponents} registers it as {@code type: mobilenet}.
 */
public final class MobileNet extends Backbone {

    private static final int[][] BLOCKS = {
        {64, 1}, {128, 2}, {128, 1}, {256, 2}, {256, 1}, {512, 2}, {512, 1}, {512, 1}, {512, 1},
        {512, 1}, {512, 1}, {1024, 2}, {1024, 1}
    };

    private static final int STEM = 32;

    /** Hyperparameters; {@code width} multiplies the channels. */
    @Component("mobilenet")
    public record Config(@Default("1") double width) implements Backbone.Config {

        public Config {
            new Checks().above("width", width, 0, 100).throwIfAny();
        }

        @Override
        public MobileNet build() {
            return new MobileNet(this);
        }

        private int channels(int inPaper) {
            return (int) Math.max(8, Math.rint(inPaper * width / 8) * 8);
        }
    }

    private final ConvModule stem;
    private final List<ConvModule> blocks = new ArrayList<>();
    private final List<Integer> levelEnds = new ArrayList<>();
    private final List<FeatureInfo> features = new ArrayList<>();

    MobileNet(Config config) {
        int in = config.channels(STEM);
        stem = add("stem", unit(new Geometry(3, in, 3).stride(2).padding(1)));
        int stride = 2;
        for (int i = 0; i < BLOCKS.length; i++) {
            int out = config.channels(BLOCKS[i][0]);
            int step = BLOCKS[i][1];
            Geometry space = new Geometry(in, in, 3).stride(step).padding(1).groups(in);
            blocks.add(add("blocks." + i + ".space", unit(space)));
            Geometry channels = new Geometry(in, out, 1);
            blocks.add(add("blocks." + i + ".channels", unit(channels)));
            in = out;
            stride *= step;
            boolean endsLevel = i + 1 == BLOCKS.length || BLOCKS[i + 1][1] == 2;
            if (endsLevel && stride >= 4) {
                levelEnds.add(blocks.size());
                features.add(new FeatureInfo(out, stride));
            }
        }
    }

    /** Creates a convolution with batch normalization and ReLU, which prediction on CPUs fuses. */
    private static ConvModule unit(Geometry geometry) {
        return new ConvModule(
                "conv",
                new Conv2d(geometry, WeightInit.kaimingNormal(), null),
                "norm",
                new BatchNorm2d(geometry.out()),
                /* relu= */ true);
    }

    @Override
    public List<FeatureInfo> features() {
        return features;
    }

    /** Computes the feature maps: [N, 3, H, W] → [N, C, H / stride, W / stride] per level. */
    @Override
    protected FeaturePyramid forward(NDArray images) {
        List<NDArray> levels = new ArrayList<>();
        NDArray x = stem.apply(images);
        for (int i = 0; i < blocks.size(); i++) {
            NDArray next = blocks.get(i).apply(x);
            if (!levelEnds.contains(i)) {
                x.close();
            }
            x = next;
            if (levelEnds.contains(i + 1)) {
                levels.add(x);
            }
        }
        return new FeaturePyramid(levels);
    }
}

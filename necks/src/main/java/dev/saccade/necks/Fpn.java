package dev.saccade.necks;

import ai.djl.ndarray.NDArray;

import com.google.common.collect.Comparators;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.Neck;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.nn.Norm;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Feature pyramid network (Lin et al. 2017), like mmdetection's {@code FPN}. */
public final class Fpn extends Neck {

    /** Source of the first extra level; each other extra level is computed from the previous. */
    public enum ExtraConvs {
        /** Max pooling of the last output, without parameters (Mask R-CNN). */
        NONE,
        /** Convolution of the last backbone level (RetinaNet). */
        ON_INPUT,
        /** Convolution of the last lateral. */
        ON_LATERAL,
        /** Convolution of the last output. */
        ON_OUTPUT
    }

    /**
     * Settings of an FPN.
     *
     * @param startLevel index of the first backbone level to use
     * @param reluBeforeExtraConvs whether to apply a ReLU before all extra convolutions but the
     *     first
     * @param norm {@code norm_cfg} in mmdetection, in all convolutions
     */
    @Component("fpn")
    public record Config(
            @Default("256") int outChannels,
            @Default("0") int startLevel,
            @Default("5") int numOuts,
            @Default("none") ExtraConvs addExtraConvs,
            @Default("false") boolean reluBeforeExtraConvs,
            @Default("none") Norm norm)
            implements Neck.Config {

        public Config {
            new Checks()
                    .inRange("out_channels", outChannels, 1, 8192)
                    .inRange("start_level", startLevel, 0, 15)
                    .inRange("num_outs", numOuts, 1, 16)
                    .throwIfAny();
        }

        @Override
        public Fpn build(List<FeatureInfo> features) {
            return new Fpn(this, features);
        }
    }

    private static final Script ADD_UPSAMPLED =
            Script.compile(
                    "(fine: Tensor, coarse: Tensor) -> Tensor",
                    """
                    size = [torch.size(fine, 2), torch.size(fine, 3)]
                    return torch.add_(fine, torch.upsample_nearest2d(coarse, size))
                    """);

    private final Config config;
    private final List<FeatureInfo> features = new ArrayList<>();
    private final List<ConvModule> laterals = new ArrayList<>();
    private final List<ConvModule> convs = new ArrayList<>();

    /**
     * Creates an uninitialized FPN.
     *
     * @throws IllegalArgumentException if {@code start_level} or {@code num_outs} does not fit the
     *     levels, or strides do not increase
     */
    public Fpn(Config config, List<FeatureInfo> inputs) {
        int start = config.startLevel();
        String levels = "a level below %s, the number of backbone levels";
        Checks.require(start < inputs.size(), "start_level", start, levels, inputs.size());
        this.config = config;
        int used = inputs.size() - start;
        int outs = config.numOuts();
        Checks.require(
                outs >= used, "num_outs", outs, "at least the number of used levels, %s", used);
        List<Integer> strides = inputs.stream().skip(start).map(FeatureInfo::stride).toList();
        Checks.require(
                Comparators.isInStrictOrder(strides, Comparator.naturalOrder()),
                "type",
                "fpn on levels with strides " + strides,
                "increasing strides such as [4, 8, 16, 32]; change the backbone or its"
                        + " out_indices");
        int out = config.outChannels();
        for (int i = 0; i < used; i++) {
            FeatureInfo input = inputs.get(start + i);
            laterals.add(add("lateral_convs." + i, conv(input.channels(), out, 1, 1)));
            convs.add(add("fpn_convs." + i, conv(out, out, 3, 1)));
            features.add(new FeatureInfo(out, input.stride()));
        }
        FeatureInfo last = inputs.get(inputs.size() - 1);
        boolean onInput = config.addExtraConvs() == ExtraConvs.ON_INPUT;
        for (int i = used; i < outs; i++) {
            features.add(new FeatureInfo(out, features.get(i - 1).stride() * 2));
            if (config.addExtraConvs() != ExtraConvs.NONE) {
                int in = onInput && i == used ? last.channels() : out;
                convs.add(add("fpn_convs." + i, conv(in, out, 3, 2)));
            }
        }
    }

    private ConvModule conv(int in, int out, int kernel, int stride) {
        Geometry geometry = new Geometry(in, out, kernel).stride(stride).padding(kernel / 2);
        return config.norm().linear(geometry, WeightInit.xavierUniform());
    }

    @Override
    public List<FeatureInfo> features() {
        return features;
    }

    @Override
    protected FeaturePyramid forward(FeaturePyramid inputs) {
        List<NDArray> merged = new ArrayList<>();
        for (int i = 0; i < laterals.size(); i++) {
            merged.add(laterals.get(i).apply(inputs.get(config.startLevel() + i)));
        }
        for (int i = laterals.size() - 1; i > 0; i--) {
            ADD_UPSAMPLED.run(merged.get(i - 1), merged.get(i));
        }
        List<NDArray> outputs = new ArrayList<>();
        for (int i = 0; i < laterals.size(); i++) {
            outputs.add(convs.get(i).apply(merged.get(i)));
        }
        NDArray source =
                switch (config.addExtraConvs()) {
                    case ON_INPUT -> inputs.get(inputs.size() - 1);
                    case ON_LATERAL -> merged.get(merged.size() - 1);
                    case NONE, ON_OUTPUT -> outputs.get(outputs.size() - 1);
                };
        for (int i = laterals.size(); i < config.numOuts(); i++) {
            boolean relu = config.reluBeforeExtraConvs() && i > laterals.size();
            source =
                    config.addExtraConvs() == ExtraConvs.NONE
                            ? source.get(":, :, ::2, ::2")
                            : convs.get(i).apply(relu ? Functional.relu(source) : source);
            outputs.add(source);
        }
        return new FeaturePyramid(outputs);
    }
}

package dev.saccade.necks;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;

import com.google.common.collect.Comparators;
import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.FeatureInfo;
import dev.saccade.core.parts.Neck;
import dev.saccade.core.parts.Part;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Feature pyramid network (Lin et al. 2017) with the extra levels of mmdetection: every level gets
 * the coarser one, enlarged to its size, added and a 3x3 convolution.
 */
public final class Fpn extends Neck {

    /** What the levels beyond those of the backbone are made from. */
    public enum ExtraConvs {
        /** From the coarsest output by max pooling, without parameters (Mask R-CNN). */
        NONE,
        /** By a convolution of the last level of the backbone (RetinaNet). */
        ON_INPUT,
        /** By a convolution of the last lateral. */
        ON_LATERAL,
        /** By a convolution of the last output. */
        ON_OUTPUT
    }

    /**
     * The hyper-parameters of an FPN.
     *
     * @param outChannels channels of every output
     * @param startLevel the first level of the backbone that is used
     * @param numOuts number of outputs
     * @param addExtraConvs how outputs beyond the levels of the backbone are made
     * @param reluBeforeExtraConvs whether the second and further extra convolutions get a ReLU
     *     first
     */
    @Part("fpn")
    public record Config(
            @Default("256") int outChannels,
            @Default("0") int startLevel,
            @Default("5") int numOuts,
            @Default("none") ExtraConvs addExtraConvs,
            @Default("false") boolean reluBeforeExtraConvs)
            implements Neck.Config {

        /** Checks the values. */
        public Config {
            new Checks()
                    .within("out_channels", outChannels, 1, 8192)
                    .within("start_level", startLevel, 0, 15)
                    .within("num_outs", numOuts, 1, 16)
                    .throwIfAny();
        }

        @Override
        public Fpn build(List<FeatureInfo> features) {
            return new Fpn(this, features);
        }
    }

    private static final Script ADD_ENLARGED =
            Script.compile(
                    "(fine: Tensor, coarse: Tensor) -> Tensor",
                    """
                    size = [torch.size(fine, 2), torch.size(fine, 3)]
                    return torch.add_(fine, torch.upsample_nearest2d(coarse, size))
                    """);

    private final Config config;
    private final List<FeatureInfo> features;
    private final List<ConvModule> laterals = new ArrayList<>();
    private final List<ConvModule> convs = new ArrayList<>();

    /**
     * Makes an FPN without weights.
     *
     * @throws IllegalArgumentException if there are fewer levels than the config needs, or levels
     *     of the same stride
     */
    public Fpn(Config config, List<FeatureInfo> inputs) {
        Checks.require(
                config.startLevel() < inputs.size(),
                "start_level",
                config.startLevel(),
                "less than the %s levels of the backbone",
                inputs.size());
        this.config = config;
        int used = inputs.size() - config.startLevel();
        Checks.require(
                config.numOuts() >= used,
                "num_outs",
                config.numOuts(),
                "at least the %s levels that are used",
                used);
        List<Integer> strides =
                inputs.stream().skip(config.startLevel()).map(FeatureInfo::stride).toList();
        Checks.require(
                Comparators.isInStrictOrder(strides, Comparator.naturalOrder()),
                "type",
                "fpn on levels with strides " + strides,
                "increasing strides such as [4, 8, 16, 32]; choose another backbone or one of its"
                        + " out_indices");
        int out = config.outChannels();
        for (int i = 0; i < used; i++) {
            int in = inputs.get(config.startLevel() + i).channels();
            laterals.add(add("lateral_convs." + i, conv(in, out, 1, 1)));
            convs.add(add("fpn_convs." + i, conv(out, out, 3, 1)));
        }
        if (config.addExtraConvs() != ExtraConvs.NONE) {
            int in =
                    config.addExtraConvs() == ExtraConvs.ON_INPUT
                            ? inputs.get(inputs.size() - 1).channels()
                            : out;
            for (int i = used; i < config.numOuts(); i++) {
                convs.add(add("fpn_convs." + i, conv(i == used ? in : out, out, 3, 2)));
            }
        }
        this.features = describe(inputs);
    }

    private static ConvModule conv(int in, int out, int kernel, int stride) {
        return ConvModule.linear(
                new Geometry(in, out, kernel).stride(stride).padding(kernel / 2),
                WeightInit.xavierUniform());
    }

    private List<FeatureInfo> describe(List<FeatureInfo> inputs) {
        ImmutableList.Builder<FeatureInfo> described = ImmutableList.builder();
        int stride = 0;
        for (int i = 0; i < config.numOuts(); i++) {
            int level = config.startLevel() + i;
            stride = level < inputs.size() ? inputs.get(level).stride() : stride * 2;
            described.add(new FeatureInfo(config.outChannels(), stride));
        }
        return described.build();
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
            ADD_ENLARGED.run(merged.get(i - 1), merged.get(i)).close();
        }
        List<NDArray> outputs = new ArrayList<>();
        for (int i = 0; i < laterals.size(); i++) {
            outputs.add(convs.get(i).apply(merged.get(i)));
        }
        addExtraLevels(inputs, merged, outputs);
        merged.forEach(NDArray::close);
        return new FeaturePyramid(outputs);
    }

    private void addExtraLevels(
            FeaturePyramid inputs, List<NDArray> merged, List<NDArray> outputs) {
        while (outputs.size() < config.numOuts()) {
            NDArray coarsest = outputs.get(outputs.size() - 1);
            boolean first = outputs.size() == laterals.size();
            outputs.add(
                    switch (config.addExtraConvs()) {
                        case NONE -> subsample(coarsest);
                        case ON_INPUT ->
                                extraConv(
                                        outputs.size(),
                                        first ? inputs.get(inputs.size() - 1) : coarsest);
                        case ON_LATERAL ->
                                extraConv(
                                        outputs.size(),
                                        first ? merged.get(merged.size() - 1) : coarsest);
                        case ON_OUTPUT -> extraConv(outputs.size(), coarsest);
                    });
        }
    }

    private NDArray extraConv(int level, NDArray source) {
        boolean relu = config.reluBeforeExtraConvs() && level > laterals.size();
        return Scope.array(() -> convs.get(level).apply(relu ? Activation.relu(source) : source));
    }

    /** Every second cell, which is what max pooling of kernel 1 and stride 2 means. */
    private static NDArray subsample(NDArray x) {
        return x.getNDArrayInternal()
                .maxPool(new Shape(1, 1), new Shape(2, 2), new Shape(0, 0), false);
    }
}

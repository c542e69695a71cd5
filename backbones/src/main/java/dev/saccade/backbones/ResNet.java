package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSortedMap;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.Variant;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.nn.BatchNorm2d;
import dev.saccade.core.nn.BatchNormType;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.Sequential;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * ResNet (He et al. 2015) and ResNeXt (Xie et al. 2017), like torchvision's and mmdetection's
 * {@code style="pytorch"}: bottlenecks have the stride in the 3x3 convolution. Parameter names are
 * torchvision's or, with a deep stem, mmsegmentation's ({@code ResNetV1c}).
 */
public final class ResNet extends Backbone {

    private static final ImmutableSortedMap<Integer, ImmutableList<Integer>> BLOCKS_OF_DEPTH =
            ImmutableSortedMap.of(
                    18, ImmutableList.of(2, 2, 2, 2),
                    34, ImmutableList.of(3, 4, 6, 3),
                    50, ImmutableList.of(3, 4, 6, 3),
                    101, ImmutableList.of(3, 4, 23, 3),
                    152, ImmutableList.of(3, 8, 36, 3));

    /**
     * Settings of a ResNet or ResNeXt.
     *
     * @param deepStem whether the stem has three 3x3 convolutions instead of one 7x7, as in
     *     mmsegmentation
     * @param groups cardinality of a ResNeXt
     * @param baseWidth channels per group in the first stage; 64 without groups
     * @param outIndices output stages, 0 to 3, ascending
     * @param frozenStages -1: none, 0: the stem, k: the stem and stages 1 to k
     * @param normRequiresGrad {@code norm_cfg.requires_grad} in mmdetection; false also freezes
     *     weights and biases of normalizations, like torchvision's {@code FrozenBatchNorm2d}
     * @param normEps {@code norm_cfg.eps} in mmdetection
     * @param zeroInitResidual whether the last normalization of every block is initialized with 0
     */
    @Component("resnet")
    @Variant(name = "resnet18", settings = "depth: 18")
    @Variant(name = "resnet34", settings = "depth: 34")
    @Variant(name = "resnet50")
    @Variant(name = "resnet101", settings = "depth: 101")
    @Variant(name = "resnet152", settings = "depth: 152")
    @Variant(name = "resnext50_32x4d", settings = "groups: 32, base_width: 4")
    @Variant(name = "resnext101_32x4d", settings = "depth: 101, groups: 32, base_width: 4")
    @Variant(name = "resnext101_64x4d", settings = "depth: 101, groups: 64, base_width: 4")
    @Variant(name = "resnext101_32x8d", settings = "depth: 101, groups: 32, base_width: 8")
    public record Config(
            @Default("50") int depth,
            @Default("64") int stemChannels,
            @Default("false") boolean deepStem,
            @Default("64") int baseChannels,
            @Default("1") int groups,
            @Default("64") int baseWidth,
            @Default("[0, 1, 2, 3]") List<Integer> outIndices,
            @Default("-1") int frozenStages,
            @Default("true") boolean normEval,
            @Default("bn") BatchNormType norm,
            @Default("true") boolean normRequiresGrad,
            @Default("1e-5") double normEps,
            @Default("true") boolean zeroInitResidual)
            implements Backbone.Config {

        public Config {
            outIndices = ImmutableList.copyOf(outIndices);
            new Checks()
                    .inRange("stem_channels", stemChannels, 1, 8192)
                    .inRange("base_channels", baseChannels, 1, 8192)
                    .inRange("groups", groups, 1, 1024)
                    .inRange("base_width", baseWidth, 1, 8192)
                    .size("out_indices", outIndices, 1, 4)
                    .each("out_indices", outIndices, 0, 3)
                    .ascending("out_indices", outIndices)
                    .inRange("norm_eps", normEps, 0, 1)
                    .inRange("frozen_stages", frozenStages, -1, 4)
                    .throwIfAny();
            Checks.require(
                    BLOCKS_OF_DEPTH.containsKey(depth),
                    "depth",
                    depth,
                    "one of %s",
                    BLOCKS_OF_DEPTH.keySet());
            Checks.require(
                    !deepStem || stemChannels % 2 == 0,
                    "stem_channels",
                    stemChannels,
                    "an even number for a deep stem");
            Checks.require(
                    groups == 1 || hasBottlenecks(depth),
                    "groups",
                    groups,
                    "1 at depth %d, which has no bottleneck blocks",
                    depth);
            Checks.require(
                    groups > 1 || baseWidth == 64, "base_width", baseWidth, "64 with groups: 1");
        }

        @Override
        public CheckpointRules checkpointRules() {
            return ResNetCheckpoints.RULES;
        }

        @Override
        public ResNet build() {
            return new ResNet(this);
        }

        private static boolean hasBottlenecks(int depth) {
            return depth >= 50;
        }

        private int expansion() {
            return hasBottlenecks(depth) ? 4 : 1;
        }

        private int width(int planes) {
            return groups == 1 ? planes : planes / baseChannels * baseWidth * groups;
        }
    }

    private final Config config;
    private final List<Sequential> stages = new ArrayList<>();
    private final List<List<Module>> layers = new ArrayList<>();
    private final List<Module> frozen = new ArrayList<>();

    public ResNet(Config config) {
        this.config = config;
        int in = config.stemChannels();
        Sequential stem = new Sequential();
        if (config.deepStem()) {
            stack(stem, "stem.0", "stem.1", new Geometry(3, in / 2, 3).stride(2).padding(1));
            stack(stem, "stem.3", "stem.4", new Geometry(in / 2, in / 2, 3).padding(1));
            stack(stem, "stem.6", "stem.7", new Geometry(in / 2, in, 3).padding(1));
        } else {
            stack(stem, "conv1", "bn1", new Geometry(3, in, 7).stride(2).padding(3));
        }
        stem.then(x -> Functional.maxPool2d(x, 3, 2, 1));
        layers.add(List.of(stem));
        for (int s = 0; s < 4; s++) {
            Sequential stage = add("", new Sequential());
            if (s == 0) {
                stage.append("", stem);
            }
            int planes = config.baseChannels() << s;
            for (int b = 0; b < BLOCKS_OF_DEPTH.get(config.depth()).get(s); b++) {
                Block block = new Block(config, in, planes, s > 0 && b == 0 ? 2 : 1);
                stage.append("layer" + (s + 1) + "." + b, block);
                layers.add(List.of(block));
                in = planes * config.expansion();
            }
            stages.add(stage);
        }
        if (config.frozenStages() >= 0) {
            frozen.add(stem);
            frozen.addAll(stages.subList(0, config.frozenStages()));
        }
        frozen.forEach(Module::freeze);
        train(true);
    }

    private void stack(Sequential stem, String conv, String norm, Geometry geometry) {
        stem.append("", convModule(config, conv, geometry, norm, WeightInit.ONES, true));
    }

    private static ConvModule convModule(
            Config config,
            String name,
            Geometry geometry,
            String normName,
            WeightInit normInit,
            boolean relu) {
        BatchNorm2d norm =
                new BatchNorm2d(geometry.out(), config.norm(), config.normEps(), normInit);
        if (!config.normRequiresGrad()) {
            norm.freeze();
        }
        return new ConvModule(name, Conv2d.withoutBias(geometry), normName, norm, relu);
    }

    @Override
    public Map<String, Integer> layers() {
        return layersOf(layers);
    }

    @Override
    public void train(boolean mode) {
        super.train(mode && !config.normEval());
        if (mode) {
            unfuse();
        }
        frozen.forEach(module -> module.train(false));
    }

    @Override
    protected FeaturePyramid forward(NDArray images) {
        int last = config.outIndices().get(config.outIndices().size() - 1);
        List<NDArray> levels = new ArrayList<>();
        NDArray x = images;
        for (int s = 0; s <= last; s++) {
            x = stages.get(s).apply(x);
            if (config.outIndices().contains(s)) {
                levels.add(x);
            }
        }
        return new FeaturePyramid(levels);
    }

    @Override
    public List<FeatureInfo> features() {
        int channels = config.baseChannels() * config.expansion();
        return config.outIndices().stream()
                .map(s -> new FeatureInfo(channels << s, 4 << s))
                .collect(ImmutableList.toImmutableList());
    }

    /** Residual block: basic (3x3, 3x3) or bottleneck (1x1, 3x3 with stride and groups, 1x1). */
    private static final class Block extends Layer {

        private final Config config;
        private final Sequential convs = add("", new Sequential());
        private final ConvModule last;
        private final Optional<Layer> downsample;

        Block(Config config, int in, int planes, int stride) {
            this.config = config;
            int out = planes * config.expansion();
            WeightInit lastInit = config.zeroInitResidual() ? WeightInit.ZEROS : WeightInit.ONES;
            if (config.expansion() == 1) {
                convs.append("", conv(1, threeByThree(in, planes).stride(stride), WeightInit.ONES));
                last = add("", conv(2, threeByThree(planes, out), lastInit));
            } else {
                int width = config.width(planes);
                Geometry middle = threeByThree(width, width).stride(stride).groups(config.groups());
                convs.append("", conv(1, new Geometry(in, width, 1), WeightInit.ONES))
                        .append("", conv(2, middle, WeightInit.ONES));
                last = add("", conv(3, new Geometry(width, out, 1), lastInit));
            }
            Geometry projection = new Geometry(in, out, 1).stride(stride);
            downsample =
                    when(
                            stride != 1 || in != out,
                            () ->
                                    add(
                                            "downsample",
                                            convModule(
                                                    config,
                                                    "0",
                                                    projection,
                                                    "1",
                                                    WeightInit.ONES,
                                                    false)));
        }

        private static Geometry threeByThree(int in, int out) {
            return new Geometry(in, out, 3).padding(1);
        }

        private ConvModule conv(int number, Geometry geometry, WeightInit normInit) {
            return convModule(config, "conv" + number, geometry, "bn" + number, normInit, true);
        }

        @Override
        protected NDArray forward(NDArray x) {
            NDArray y = convs.apply(x);
            return last.forwardAdd(y, downsample.map(layer -> layer.apply(x)).orElse(x));
        }
    }
}

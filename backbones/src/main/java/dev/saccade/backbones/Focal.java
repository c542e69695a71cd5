package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableList;
import com.google.common.math.IntMath;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.core.components.Variant;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.GroupNorm;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Sequential;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.attention.FocalRegion;
import dev.saccade.core.ops.vision.Interpolation;

import java.math.RoundingMode;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * Focal Transformer (Yang et al. 2021), version 1, with the parameter names of the official
 * classification code.
 *
 * <p>The detection and segmentation code was not published. Variants without a size follow the
 * paper: images of any size, larger focal windows, and expanded windows in the last stage. The
 * {@code _224} variants are the classifiers, plus output norms; their windows are never larger than
 * the maps.
 *
 * <p>Stochastic depth of tiny, small and base follows the paper: 0.2, 0.3 and 0.5 for detection and
 * segmentation, 0.2, 0.2 and 0.3 for classification. The convolutional variants, which are not in
 * the paper, follow the official configs. {@code large} differs from {@code base} in width only.
 *
 * <p>Ablations: {@code tiny_224_w14} has windows of 14 (Table 7; other settings unchanged), {@code
 * _shift} shifts windows (Table 8), {@code _2222} and {@code _2242} have fewer blocks in stage 3
 * (Table 9), {@code _window} attends only to the window, {@code _local} also to neighbors, and
 * {@code _global} also to pooled windows (Figure 5).
 */
public final class Focal extends SwinFamily {

    private static final String AT_224 = "focal_windows: [7, 5, 3, 1], image_size: [224, 224]";
    private static final String WIDE =
            "embed_dim: 196, depths: [2, 2, 18, 2], num_heads: [4, 8, 16, 32]";
    private static final String CONV = "use_conv_embed: true";

    /** Blocks of a stage, counted from 0, that do not expand their windows. */
    public enum ExpandLayer {
        /** None: all blocks expand their windows. */
        ALL,
        EVEN,
        ODD
    }

    /** Pooling of tokens to a coarser token. */
    public enum Pool {
        /** Weighted sum, with the same weights for all channels. */
        FC,
        MEAN,
        MAX,
        /** Depth-wise convolution. */
        CONV
    }

    /**
     * Settings of a Focal Transformer.
     *
     * @param imageSize fixed height and width of the images, or empty for images of any size. With
     *     a fixed size, windows are at most as large as the shorter side of a map; windows of this
     *     size are not expanded or shifted
     * @param padToPatches whether to pad to whole patches; the official code crops instead
     * @param useConvEmbed whether patches overlap
     * @param usePreNorm whether to normalize also before down-sampling
     * @param layerScale initial layer scale; empty for none
     * @param ape whether to add absolute position embeddings for {@code image_size}
     */
    @Component("focal")
    @Variant(name = "tiny")
    @Variant(name = "small", settings = "depths: [2, 2, 18, 2], drop_path_rate: 0.3")
    @Variant(name = "base", settings = BASE + ", drop_path_rate: 0.5")
    @Variant(name = "large", settings = WIDE + ", drop_path_rate: 0.5")
    @Variant(name = "tiny_224", settings = AT_224)
    @Variant(name = "small_224", settings = AT_224 + ", depths: [2, 2, 18, 2]")
    @Variant(name = "base_224", settings = BASE + ", " + AT_224 + ", drop_path_rate: 0.3")
    @Variant(name = "large_224", settings = AT_224 + ", " + WIDE + ", drop_path_rate: 0.3")
    @Variant(name = "tiny_conv_224", settings = AT_224 + ", " + CONV)
    @Variant(
            name = "small_conv_224",
            settings = {AT_224, "depths: [2, 2, 18, 2]", "drop_path_rate: 0.3", CONV})
    @Variant(
            name = "base_conv_224",
            settings = {BASE, AT_224, "drop_path_rate: 0.5", CONV})
    @Variant(name = "tiny_224_shift", settings = AT_224 + ", use_shift: true")
    @Variant(
            name = "tiny_224_window",
            settings = {AT_224, "focal_levels: [1, 1, 1, 1]", "expand_sizes: [0, 0, 0, 0]"})
    @Variant(name = "tiny_224_local", settings = AT_224 + ", focal_levels: [1, 1, 1, 1]")
    @Variant(name = "tiny_224_global", settings = AT_224 + ", expand_sizes: [0, 0, 0, 0]")
    @Variant(name = "tiny_224_w14", settings = AT_224 + ", window_size: 14")
    @Variant(name = "tiny_224_2222", settings = AT_224 + ", depths: [2, 2, 2, 2]")
    @Variant(name = "tiny_224_2242", settings = AT_224 + ", depths: [2, 2, 4, 2]")
    public record Config(
            @Default("tiny") String variant,
            @Default("96") int embedDim,
            @Default("[3, 6, 12, 24]") List<Integer> numHeads,
            @Default("fc") Pool focalPool,
            @Default("[]") List<Integer> imageSize,
            @Default("true") boolean padToPatches,
            @Default("false") boolean useConvEmbed,
            @Default("false") boolean usePreNorm,
            Optional<Double> layerScale,
            @Default("4") double mlpRatio,
            @Default("true") boolean qkvBias,
            @Default("true") boolean patchNorm,
            @Default("false") boolean ape,
            @Unwrapped FocalWindows windows,
            @Unwrapped StageSettings stages)
            implements SwinFamily.Config {

        public Config {
            numHeads = ImmutableList.copyOf(numHeads);
            imageSize = ImmutableList.copyOf(imageSize);
            checks(embedDim, numHeads, mlpRatio)
                    .size("image_size", imageSize, imageSize.isEmpty() ? 0 : 2, 2)
                    .each("image_size", imageSize, COARSEST, 16384)
                    .inRange("layer_scale", layerScale, -1000, 1000)
                    .throwIfAny();
            checkHeads(numHeads, embedDim);
            Checks.require(!ape || !imageSize.isEmpty(), "ape", ape, "false without image_size");
            for (int s = 0; s < STAGES; s++) {
                int size = windows.windowSize();
                int window = Math.min(size, shorterSide(imageSize, padToPatches, s));
                Checks.require(
                        1 << (windows.focalLevels().get(s) - 1) <= 2 * window,
                        "focal_levels",
                        windows.focalLevels(),
                        "fewer levels: the windows of stage %s are %s tokens wide",
                        s,
                        window);
                FocalRegion largest = windows.largest(s);
                checkPairs(
                        "window_size",
                        size,
                        (long) numHeads.get(s) * largest.area() * largest.keys());
            }
        }

        /** Returns the shorter side of the map of a stage for images of a fixed size. */
        private static int shorterSide(List<Integer> imageSize, boolean padded, int stage) {
            if (imageSize.isEmpty()) {
                return Integer.MAX_VALUE;
            }
            RoundingMode rounding = padded ? RoundingMode.CEILING : RoundingMode.FLOOR;
            return IntMath.divide(Collections.min(imageSize), PATCH << stage, rounding);
        }

        FocalRegion region(int stage, int block) {
            return windows.region(stage, block, shorterSide(imageSize, padToPatches, stage));
        }

        @Override
        public CheckpointRules checkpointRules() {
            return FocalCheckpoints.RULES;
        }

        @Override
        public Focal build() {
            return new Focal(this);
        }
    }

    private static final int PATCH = 4;
    private static final int COARSEST = 32;

    public Focal(Config config) {
        super(config);
        setStem(add("", new Stem(config)));
        addStages(
                (s, b) -> add("layers." + s + ".blocks." + b, new FocalBlock(config, s, b)),
                s -> Optional.of(add("layers." + s + ".downsample", downsample(config, s))));
        addOutputNormsAndFreeze();
    }

    private static final class Stem extends Layer {

        private final PatchEmbed patches;
        private final Optional<Parameter> positions;
        private final List<Integer> imageSize;

        Stem(Config config) {
            imageSize = config.imageSize();
            Geometry geometry =
                    config.useConvEmbed()
                            ? new Geometry(3, config.embedDim(), 7).stride(PATCH).padding(2)
                            : new Geometry(3, config.embedDim(), PATCH).stride(PATCH);
            patches =
                    add(
                            "patch_embed",
                            new PatchEmbed(geometry, config.patchNorm(), config.padToPatches()));
            positions = when(config.ape(), () -> positions(config.embedDim()));
        }

        private Parameter positions(int channels) {
            Shape shape = new Shape(1, rows() * columns(), channels);
            return parameter("absolute_pos_embed", shape, WeightInit.truncatedNormal(0.02));
        }

        private long rows() {
            return imageSize.get(0) / PATCH;
        }

        private long columns() {
            return imageSize.get(1) / PATCH;
        }

        @Override
        protected NDArray forward(NDArray images) {
            NDArray tokens = patches.apply(images);
            return positions
                    .map(p -> tokens.add(Interpolation.bicubic(map(p), tokens)))
                    .orElse(tokens);
        }

        private NDArray map(Parameter table) {
            return table.getArray().reshape(1, rows(), columns(), -1).transpose(0, 3, 1, 2);
        }
    }

    private static Layer downsample(Config config, int stage) {
        int in = config.channels(stage);
        Geometry geometry =
                config.useConvEmbed()
                        ? new Geometry(in, 2 * in, 3).stride(2).padding(1)
                        : new Geometry(in, 2 * in, 2).stride(2);
        Sequential layers = new Sequential().then(StagedTransformer::toMap);
        if (config.usePreNorm()) {
            layers.append("pre_norm", new GroupNorm(1, in));
        }
        return layers.append("", new PatchEmbed(geometry, true, config.padToPatches()));
    }
}

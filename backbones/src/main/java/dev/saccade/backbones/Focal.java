package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;
import com.google.common.math.IntMath;

import dev.saccade.core.Checks;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.GroupNorm;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.FocalRegion;
import dev.saccade.core.ops.Interpolation;
import dev.saccade.core.ops.Scope;

import java.math.RoundingMode;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Focal Transformer (Yang et al. 2021), the first version, with the parameter names of its official
 * classification code.
 *
 * <p>The code for detection and segmentation was never published; the variants without a size
 * follow what the paper says of it: images of any size, larger focal windows, and a ring around the
 * windows of the last stage too. Those of 224 are the classifier, whose windows are never larger
 * than its maps, with output norms.
 */
public final class Focal extends StagedTransformer {

    private record Size(
            int embedDim, int depth, int heads, double dropPathRate, Form form, boolean conv) {}

    private record Form(List<Integer> focalWindows, List<Integer> imageSize) {}

    private static final Form DENSE = new Form(List.of(15, 13, 9, 7), List.of());
    private static final Form FOR_224 = new Form(List.of(7, 5, 3, 1), List.of(224, 224));

    private static final ImmutableMap<String, Size> VARIANTS =
            ImmutableMap.<String, Size>builder()
                    .put("tiny", new Size(96, 6, 3, 0.2, DENSE, false))
                    .put("small", new Size(96, 18, 3, 0.3, DENSE, false))
                    .put("base", new Size(128, 18, 4, 0.5, DENSE, false))
                    .put("large", new Size(192, 18, 6, 0.5, DENSE, false))
                    .put("tiny_224", new Size(96, 6, 3, 0.2, FOR_224, false))
                    .put("small_224", new Size(96, 18, 3, 0.3, FOR_224, false))
                    .put("base_224", new Size(128, 18, 4, 0.5, FOR_224, false))
                    .put("large_224", new Size(192, 18, 6, 0.5, FOR_224, false))
                    .put("tiny_conv_224", new Size(96, 6, 3, 0.2, FOR_224, true))
                    .put("small_conv_224", new Size(96, 18, 3, 0.3, FOR_224, true))
                    .put("base_conv_224", new Size(128, 18, 4, 0.5, FOR_224, true))
                    .buildOrThrow();

    /** Which blocks of a stage, counted from 0, have windows without a ring around them. */
    public enum ExpandLayer {
        /** None: all are expanded. */
        ALL,
        /** Even blocks. */
        EVEN,
        /** Odd blocks. */
        ODD
    }

    /** How tokens are pooled to a coarser one. */
    public enum Pool {
        /** Weighted by position, with the same weights for all channels. */
        FC,
        /** Their mean. */
        MEAN,
        /** Their maximum. */
        MAX,
        /** Weighted by position and channel. */
        CONV
    }

    /**
     * The hyper-parameters of a Focal Transformer.
     *
     * @param variant the published member of the family that the other keys start from
     * @param embedDim channels of the first stage; the others double it
     * @param depths blocks of each stage
     * @param numHeads heads of each stage
     * @param windowSize tokens along a side of a window
     * @param focalLevels focal levels of each stage, that of the tokens included
     * @param focalWindows pooled windows along a side of what a window sees in each stage, odd
     * @param expandSizes width of the ring of tokens around the windows of each stage
     * @param expandLayer which blocks go without the ring
     * @param focalPool how tokens are pooled
     * @param imageSize height and width of the images that the windows are for: where a side of the
     *     map of a stage is not larger than a window, the shorter side becomes the window, without
     *     ring or shift. Empty for images of any size
     * @param padToPatches whether images and maps are padded to whole patches; the official code
     *     cuts the rest off
     * @param useShift whether windows are shifted in every other block
     * @param maskWrapped whether tokens of the ring from the other side of the map are masked
     * @param useConvEmbed whether patches overlap
     * @param usePreNorm whether maps are normalised before they are down-sampled, too
     * @param layerScale what the learned scales of the branches start from, where there are any
     * @param mlpRatio hidden channels of the feed-forward layers over channels
     * @param qkvBias whether queries, keys and values have a bias
     * @param patchNorm whether a normalisation follows the patch embedding
     * @param ape whether learned absolute position embeddings, for {@code image_size}, are added to
     *     the patches
     * @param outputNorms whether every output has a normalisation of its own
     * @param dropPathRate stochastic depth of the last block
     * @param outIndices the stages that come out, 0 to 3, ascending
     * @param frozenStages -1 freezes nothing, 0 the stem, k the stem and stages 1 to k
     * @param activationCheckpointing whether blocks are computed again in the backward pass, which
     *     spares memory
     */
    public record Config(
            String variant,
            int embedDim,
            List<Integer> depths,
            List<Integer> numHeads,
            int windowSize,
            List<Integer> focalLevels,
            List<Integer> focalWindows,
            List<Integer> expandSizes,
            ExpandLayer expandLayer,
            Pool focalPool,
            List<Integer> imageSize,
            boolean padToPatches,
            boolean useShift,
            boolean maskWrapped,
            boolean useConvEmbed,
            boolean usePreNorm,
            Optional<Double> layerScale,
            double mlpRatio,
            boolean qkvBias,
            boolean patchNorm,
            boolean ape,
            boolean outputNorms,
            double dropPathRate,
            List<Integer> outIndices,
            int frozenStages,
            boolean activationCheckpointing)
            implements StagedTransformer.Config {

        /** Focal-T for images of any size. */
        public Config() {
            this("tiny");
        }

        /** A published member of the family. */
        public Config(String variant) {
            this(variant, Variants.get(VARIANTS, variant));
        }

        private Config(String variant, Size size) {
            this(
                    variant,
                    size.embedDim,
                    List.of(2, 2, size.depth, 2),
                    List.of(size.heads, 2 * size.heads, 4 * size.heads, 8 * size.heads),
                    7,
                    List.of(2, 2, 2, 2),
                    size.form.focalWindows,
                    List.of(3, 3, 3, 3),
                    ExpandLayer.ALL,
                    Pool.FC,
                    size.form.imageSize,
                    true,
                    false,
                    false,
                    size.conv,
                    false,
                    Optional.empty(),
                    4,
                    true,
                    true,
                    false,
                    true,
                    size.dropPathRate,
                    List.of(0, 1, 2, 3),
                    -1,
                    false);
        }

        /** Checks the values. */
        public Config {
            depths = ImmutableList.copyOf(depths);
            numHeads = ImmutableList.copyOf(numHeads);
            focalLevels = ImmutableList.copyOf(focalLevels);
            focalWindows = ImmutableList.copyOf(focalWindows);
            expandSizes = ImmutableList.copyOf(expandSizes);
            imageSize = ImmutableList.copyOf(imageSize);
            outIndices = ImmutableList.copyOf(outIndices);
            StagedTransformer.checks(depths, dropPathRate, outIndices, frozenStages)
                    .within("embed_dim", embedDim, 1, 8192)
                    .size("num_heads", numHeads, STAGES, STAGES)
                    .each("num_heads", numHeads, 1, 8192)
                    .within("window_size", windowSize, 1, 128)
                    .size("focal_levels", focalLevels, STAGES, STAGES)
                    .each("focal_levels", focalLevels, 1, 8)
                    .size("focal_windows", focalWindows, STAGES, STAGES)
                    .each("focal_windows", focalWindows, 1, 151)
                    .size("expand_sizes", expandSizes, STAGES, STAGES)
                    .each("expand_sizes", expandSizes, 0, windowSize)
                    .size("image_size", imageSize, imageSize.isEmpty() ? 0 : 2, 2)
                    .each("image_size", imageSize, COARSEST, 16384)
                    .within("layer_scale", layerScale, -1000, 1000)
                    .within("mlp_ratio", mlpRatio, 0.1, 100)
                    .throwIfAny();
            StagedTransformer.checkHeads(numHeads, embedDim);
            Checks.require(
                    focalWindows.stream().allMatch(window -> window % 2 == 1),
                    "focal_windows",
                    focalWindows,
                    "odd numbers");
            Checks.require(!ape || !imageSize.isEmpty(), "ape", ape, "an image_size with it");
            for (int s = 0; s < STAGES; s++) {
                int window = Math.min(windowSize, shorterSide(imageSize, padToPatches, s));
                Checks.require(
                        1 << (focalLevels.get(s) - 1) <= 2 * window,
                        "focal_levels",
                        focalLevels,
                        "levels whose cells hold a token; windows of stage %s have %s a side",
                        s,
                        window);
                FocalRegion largest =
                        new FocalRegion(
                                windowSize,
                                0,
                                expandSizes.get(s),
                                focalWindows.get(s),
                                focalLevels.get(s) - 1,
                                maskWrapped);
                StagedTransformer.checkPairs(
                        "window_size",
                        windowSize,
                        (long) numHeads.get(s) * largest.area() * largest.keys());
            }
        }

        /** Returns the shorter side of the map of a stage, where images have a size. */
        private static int shorterSide(List<Integer> imageSize, boolean padded, int stage) {
            if (imageSize.isEmpty()) {
                return Integer.MAX_VALUE;
            }
            RoundingMode rounding = padded ? RoundingMode.CEILING : RoundingMode.FLOOR;
            return IntMath.divide(Collections.min(imageSize), PATCH << stage, rounding);
        }

        /** Returns what the tokens of a block attend to. */
        FocalRegion region(int stage, int block) {
            int side = shorterSide(imageSize, padToPatches, stage);
            boolean fills = side <= windowSize;
            boolean even = block % 2 == 0;
            boolean expands = expandLayer != (even ? ExpandLayer.EVEN : ExpandLayer.ODD);
            return new FocalRegion(
                    Math.min(windowSize, side),
                    useShift && !even && !fills ? windowSize / 2 : 0,
                    expands && !fills ? expandSizes.get(stage) : 0,
                    focalWindows.get(stage),
                    focalLevels.get(stage) - 1,
                    maskWrapped);
        }

        @Override
        public String type() {
            return "focal";
        }

        @Override
        public Map<String, Config> variants() {
            return Maps.toMap(VARIANTS.keySet(), Config::new);
        }

        @Override
        public int channels(int stage) {
            return embedDim << stage;
        }

        @Override
        public Focal build() {
            return new Focal(this);
        }
    }

    private static final int PATCH = 4;
    private static final int COARSEST = 32;
    private static final float EPS = 1e-5f;

    /** Makes a Focal Transformer without weights. */
    public Focal(Config config) {
        super(config);
        setStem(add("", new Stem(config)));
        for (int s = 0; s < STAGES; s++) {
            String layer = "layers." + s + ".";
            int stage = s;
            addStage(
                    each(
                            config.depths().get(s),
                            b -> add(layer + "blocks." + b, new FocalBlock(config, stage, b))),
                    s == STAGES - 1
                            ? Optional.empty()
                            : Optional.of(
                                    add(layer + "downsample", new Downsample(config, stage))));
        }
        if (config.outputNorms()) {
            addOutputNorms(EPS);
        }
        freezeStages();
    }

    /** Patches and, where wanted, their absolute position embeddings. */
    private static final class Stem extends Layer {

        private final PatchEmbed patches;
        private final Optional<Parameter> positions;
        private final List<Integer> imageSize;

        Stem(Config config) {
            imageSize = config.imageSize();
            Conv2d.Geometry geometry =
                    config.useConvEmbed()
                            ? new Conv2d.Geometry(3, config.embedDim(), 7, PATCH, 2)
                            : new Conv2d.Geometry(3, config.embedDim(), PATCH, PATCH, 0);
            patches =
                    add(
                            "patch_embed",
                            new PatchEmbed(geometry, config.patchNorm(), config.padToPatches()));
            positions =
                    config.ape()
                            ? Optional.of(
                                    parameter(
                                            "absolute_pos_embed",
                                            new Shape(1, rows() * columns(), config.embedDim()),
                                            WeightInit.truncatedNormal(0.02)))
                            : Optional.empty();
        }

        private long rows() {
            return imageSize.get(0) / PATCH;
        }

        private long columns() {
            return imageSize.get(1) / PATCH;
        }

        @Override
        public NDArray forward(NDArray images) {
            return Scope.array(
                    () -> {
                        NDArray tokens = patches.forward(images);
                        return positions
                                .map(p -> tokens.add(Interpolation.bicubic(map(p), tokens)))
                                .orElse(tokens);
                    });
        }

        private NDArray map(Parameter table) {
            return table.getArray().reshape(1, rows(), columns(), -1).transpose(0, 3, 1, 2);
        }
    }

    /** Halves a map of tokens {@code [N, H, W, C]} and doubles its channels. */
    private static final class Downsample extends Layer {

        private final Optional<GroupNorm> norm;
        private final PatchEmbed patches;

        Downsample(Config config, int stage) {
            int in = config.channels(stage);
            norm =
                    config.usePreNorm()
                            ? Optional.of(add("pre_norm", new GroupNorm(1, in)))
                            : Optional.empty();
            Conv2d.Geometry geometry =
                    config.useConvEmbed()
                            ? new Conv2d.Geometry(in, 2 * in, 3, 2, 1)
                            : new Conv2d.Geometry(in, 2 * in, 2, 2, 0);
            patches = add("", new PatchEmbed(geometry, true, config.padToPatches()));
        }

        @Override
        public NDArray forward(NDArray x) {
            return Scope.array(
                    () -> {
                        NDArray map = x.transpose(0, 3, 1, 2);
                        return patches.forward(norm.map(layer -> layer.forward(map)).orElse(map));
                    });
        }
    }
}

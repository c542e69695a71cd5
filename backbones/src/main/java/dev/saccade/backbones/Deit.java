package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.backbones.DynamicConvSwin.Attention;
import dev.saccade.backbones.DynamicConvSwin.ScaleMode;
import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.Variant;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.NameTable;
import dev.saccade.core.conversion.PositionTable;
import dev.saccade.core.nn.ActivationCheckpointing;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Mlp;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Data-efficient image transformer (Touvron et al. 2021, DeiT) with the parameter names of the
 * official code and timm. The final normalization is part of the head.
 *
 * <p>Other variants are in two papers. As a network of dynamic convolutions (Zhou et al. 2023,
 * Tables 2 and 3), attention has other activations, relative positions, or is depth-wise. {@code
 * _gap} variants pool the tokens instead of using a class token; {@code tiny_gap_ghost} has ELSA's
 * ghost head (Zhou et al. 2021, Table 11).
 *
 * <p>No code was published for these variants. Choices where the papers are silent: the position
 * bias is per head, and 0 for the class token; layer normalization has a gain and bias per key; the
 * ghost head adds two static filters, indexed by relative position, to each head (λ = 0 and γ = 1,
 * as in all released ELSA models).
 */
public final class Deit extends Backbone {

    private static final String TINY = "embed_dim: 192, num_heads: 3";
    private static final String BASE = "embed_dim: 768, num_heads: 12";
    private static final String REL = "ape: false, relative_position_bias: true";
    private static final String GAP = "cls_token: false";
    private static final String SCALED = "attention: scaling, scale_mode: head_dim";
    private static final String SCALED_RELU = "attention: scaling_relu, scale_mode: head_dim";

    /**
     * Settings of a DeiT.
     *
     * @param imgSize image size of the position tables, which are interpolated for other sizes
     * @param ape whether to add absolute position embeddings
     * @param clsToken whether the output is a class token, as a 1x1 map, instead of all tokens.
     *     With relative positions or layer normalization in the attention, images must be square
     * @param scaleMode unused by depth-wise attention
     * @param ghostHead whether to double the heads with static filters
     * @param dropPathRate stochastic depth rate of the last block; increases linearly from 0
     * @param frozenStages -1: none, 0: the patch embedding, k: also the first k blocks
     * @param activationCheckpointing whether to recompute blocks in the backward pass
     */
    @Component("deit")
    @Variant(name = "tiny", settings = TINY)
    @Variant(name = "small")
    @Variant(name = "base", settings = BASE)
    @Variant(name = "small_none", settings = "attention: none")
    @Variant(name = "small_scaling", settings = SCALED)
    @Variant(name = "small_scaling_relu", settings = SCALED_RELU)
    @Variant(name = "small_depthwise", settings = "attention: depthwise")
    @Variant(name = "small_rel", settings = REL)
    @Variant(name = "small_rel_scaling", settings = REL + ", " + SCALED)
    @Variant(name = "small_rel_scaling_relu", settings = REL + ", " + SCALED_RELU)
    @Variant(name = "small_rel_depthwise", settings = REL + ", attention: depthwise")
    @Variant(name = "small_rel_layernorm", settings = REL + ", attention: layernorm")
    @Variant(
            name = "small_rel_layernorm_gap",
            settings = {REL, "attention: layernorm", GAP})
    @Variant(
            name = "small_rel_layernorm_relu_gap",
            settings = {REL, "attention: layernorm_relu", GAP})
    @Variant(name = "base_rel", settings = BASE + ", " + REL)
    @Variant(
            name = "base_rel_depthwise",
            settings = {BASE, REL, "attention: depthwise"})
    @Variant(name = "tiny_gap", settings = TINY + ", " + GAP)
    @Variant(
            name = "tiny_gap_ghost",
            settings = {TINY, GAP, "ghost_head: true"})
    public record Config(
            @Default("small") String variant,
            @Default("384") int embedDim,
            @Default("12") int depth,
            @Default("6") int numHeads,
            @Default("4") double mlpRatio,
            @Default("true") boolean qkvBias,
            @Default("16") int patchSize,
            @Default("224") int imgSize,
            @Default("true") boolean ape,
            @Default("false") boolean relativePositionBias,
            @Default("true") boolean clsToken,
            @Default("softmax") Attention attention,
            @Default("sqrt_head_dim") ScaleMode scaleMode,
            @Default("false") boolean ghostHead,
            @Default("0.1") double dropPathRate,
            @Default("-1") int frozenStages,
            @Default("false") boolean activationCheckpointing)
            implements Backbone.Config {

        public Config {
            new Checks()
                    .inRange("embed_dim", embedDim, 1, 65536)
                    .inRange("depth", depth, 1, 500)
                    .inRange("num_heads", numHeads, 1, 8192)
                    .inRange("mlp_ratio", mlpRatio, 0.1, 100)
                    .inRange("patch_size", patchSize, 1, 256)
                    .inRange("img_size", imgSize, patchSize, 16384)
                    .below("drop_path_rate", dropPathRate, 0, 1)
                    .inRange("frozen_stages", frozenStages, -1, depth)
                    .throwIfAny();
            int maps = ghostHead ? 2 * numHeads : numHeads;
            Checks.require(
                    embedDim % maps == 0,
                    "num_heads",
                    numHeads,
                    "a divisor of embed_dim %s%s",
                    embedDim,
                    ghostHead ? ", also after the ghost head doubles it" : "");
            Checks.require(!ghostHead || !clsToken, "cls_token", clsToken, "false with ghost_head");
            Checks.require(
                    !ghostHead || attention != Attention.DEPTHWISE,
                    "attention",
                    "depthwise",
                    "an attention with heads, such as softmax, with ghost_head");
            int side = imgSize / patchSize;
            StagedTransformer.checkPairs(
                    "img_size", imgSize, (long) maps * side * side * side * side);
        }

        TokenGrid grid() {
            return new TokenGrid(imgSize / patchSize, clsToken);
        }

        /** Returns whether the model needs the positions of tokens behind a class token. */
        boolean needsSquare() {
            boolean isNormalized =
                    attention == Attention.LAYERNORM || attention == Attention.LAYERNORM_RELU;
            return clsToken && (relativePositionBias || isNormalized);
        }

        @Override
        public CheckpointRules checkpointRules() {
            return StagedTransformer.CLASSIFIER
                    .withNames(DISTILLED, MMPRETRAIN)
                    .withPositions(
                            PositionTable.bicubic("{b}pos_embed"),
                            PositionTable.bicubic("{*}.relative_position_bias_table"),
                            PositionTable.bicubic("{*}.attn.ghost_head"));
        }

        @Override
        public Deit build() {
            return new Deit(this);
        }
    }

    private static final float EPS = 1e-6f;

    private static final NameTable DISTILLED =
            new NameTable("official", "{b}dist_token", List.of(), "")
                    .withNote(
                            "the checkpoint is a distilled DeiT with a second token (dist_token)"
                                    + " and head (head_dist), which are not supported; use the"
                                    + " checkpoint of the model without distillation");

    private static final NameTable MMPRETRAIN =
            new NameTable(
                    "openmmlab",
                    "{b}layers.{i}.ffn.layers.0.0.weight",
                    List.of("{b}pos_embed", "{b}blocks.{i}.attn.qkv.weight"),
                    """
                    {b}patch_embed.projection.{*}    {b}patch_embed.proj.{*}
                    {b}layers.{i}.ln1.{*}            {b}blocks.{i}.norm1.{*}
                    {b}layers.{i}.ln2.{*}            {b}blocks.{i}.norm2.{*}
                    {b}layers.{i}.ffn.layers.0.0.{*} {b}blocks.{i}.mlp.fc1.{*}
                    {b}layers.{i}.ffn.layers.1.{*}   {b}blocks.{i}.mlp.fc2.{*}
                    {b}layers.{i}.{*}                {b}blocks.{i}.{*}
                    backbone.ln1.{*}                 norm.{*}
                    head.layers.head.{*}             head.{*}
                    """);

    private final Config config;
    private final List<Layer> layers = new ArrayList<>();
    private final List<Module> frozen;

    public Deit(Config config) {
        this.config = config;
        layers.add(add("", new Stem(config)));
        for (int b = 0; b < config.depth(); b++) {
            layers.add(add("blocks." + b, block(config, b)));
        }
        frozen = List.copyOf(layers.subList(0, config.frozenStages() + 1));
        frozen.forEach(Module::freeze);
        train(true);
    }

    private static Layer block(Config config, int block) {
        int channels = config.embedDim();
        double dropPath =
                config.depth() == 1 ? 0 : config.dropPathRate() * block / (config.depth() - 1);
        return new TransformerBlock(
                channels,
                DeitAttention.of(config),
                new Mlp(channels, (int) (channels * config.mlpRatio())),
                EPS,
                dropPath);
    }

    @Override
    public Map<String, Integer> layers() {
        return layersOf(layers.stream().map(layer -> List.<Module>of(layer)).toList());
    }

    @Override
    public void train(boolean mode) {
        super.train(mode);
        frozen.forEach(module -> module.train(false));
    }

    @Override
    protected FeaturePyramid forward(NDArray images) {
        List<UnaryOperator<NDArray>> steps = new ArrayList<>(List.of(layers.get(0)));
        for (Layer block : layers.subList(1, layers.size())) {
            steps.add(
                    config.activationCheckpointing()
                            ? x -> ActivationCheckpointing.run(block, x)
                            : block);
        }
        NDArray tokens = Scope.chain(images, steps);
        NDArray output = config.clsToken() ? ClassToken.of(tokens) : tokens;
        return new FeaturePyramid(List.of(StagedTransformer.toMap(output)));
    }

    @Override
    public List<FeatureInfo> features() {
        return List.of(new FeatureInfo(config.embedDim(), config.patchSize()));
    }

    /** Patch embedding, positions and class token. */
    private static final class Stem extends Layer {

        private final Config config;
        private final TokenGrid grid;
        private final PatchEmbed patches;
        private final Optional<Parameter> classToken;
        private final Optional<Parameter> positions;

        Stem(Config config) {
            this.config = config;
            grid = config.grid();
            int channels = config.embedDim();
            WeightInit init = WeightInit.truncatedNormal(0.02);
            classToken =
                    when(
                            config.clsToken(),
                            () -> parameter("cls_token", new Shape(1, 1, channels), init));
            Shape table = new Shape(1, grid.tokens(), channels);
            positions = when(config.ape(), () -> parameter("pos_embed", table, init));
            Geometry geometry =
                    new Geometry(3, channels, config.patchSize()).stride(config.patchSize());
            patches = add("patch_embed", new PatchEmbed(geometry, false, true));
        }

        @Override
        protected NDArray forward(NDArray images) {
            NDArray map = patches.apply(images);
            Shape shape = map.getShape();
            if (config.needsSquare() && shape.get(1) != shape.get(2)) {
                throw SaccadeException.user(
                        "cls_token: got a map of %dx%d, expected a square one with relative"
                                + " positions or layer normalization; use square images or"
                                + " cls_token: false",
                        shape.get(1), shape.get(2));
            }
            NDArray tokens = classToken.map(t -> ClassToken.prepend(t.getArray(), map)).orElse(map);
            return positions
                    .map(p -> grid.positions(p.getArray(), map))
                    .map(
                            p ->
                                    tokens.add(
                                            config.clsToken()
                                                    ? p.expandDims(1)
                                                    : p.reshape(cells(p, map))))
                    .orElse(tokens);
        }

        private static Shape cells(NDArray positions, NDArray map) {
            Shape shape = map.getShape();
            return new Shape(1, shape.get(1), shape.get(2), positions.getShape().get(2));
        }
    }
}

package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.nn.ActivationCheckpointing;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.LayerNorm;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.structures.FeaturePyramid;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Base class of backbones with a stem to stride 4 and four stages of blocks, with down-sampling by
 * 2 in between; subclasses may use other strides. Outputs are taken after the blocks of a stage,
 * with an optional normalization that does not affect the next stage.
 *
 * <p>Tokens {@code [N, H, W, C]} and channels-last maps share the same memory, so conversions are
 * free.
 */
abstract class StagedTransformer extends Backbone {

    static final int STAGES = 4;

    /** 1 GiB of floats; windows of published models have about a million pairs. */
    private static final long MAX_PAIRS = 1 << 28;

    static final CheckpointRules CLASSIFIER =
            CheckpointRules.NONE
                    .withUnexpected(
                            "{b}norm.weight", "{b}norm.bias", "{b}head.weight", "{b}head.bias")
                    .withMissing("{b}norm{i}.{*}");

    interface Config extends Backbone.Config {

        StageSettings stages();

        /** Returns rules for classifiers, which have a single norm instead of output norms. */
        @Override
        default CheckpointRules checkpointRules() {
            return CLASSIFIER;
        }

        int channels(int stage);

        default int stride(int stage) {
            return 4 << stage;
        }
    }

    static void checkHeads(List<Integer> heads, List<Integer> channels) {
        for (int s = 0; s < STAGES; s++) {
            Checks.require(
                    channels.get(s) % heads.get(s) == 0,
                    "num_heads",
                    heads,
                    "divisors of the channels; stage %s has %s channels",
                    s,
                    channels.get(s));
        }
    }

    /**
     * Rejects windows that do not fit into memory; {@code pairs} is queries times keys times heads.
     */
    static void checkPairs(String key, Object value, long pairs) {
        Checks.require(
                pairs <= MAX_PAIRS,
                key,
                value,
                "at most %s query-key pairs per window over all heads; this setting results in %s",
                MAX_PAIRS,
                pairs);
    }

    /** Creates a block or its attention, given the indices of stage and block. */
    interface BlockFactory {

        Layer create(int stage, int block);
    }

    /** Views tokens {@code [N, H, W, C]} as a map {@code [N, C, H, W]}. */
    static NDArray toMap(NDArray tokens) {
        return tokens.transpose(0, 3, 1, 2);
    }

    /** Views a map {@code [N, C, H, W]} as tokens {@code [N, H, W, C]}. */
    static NDArray toTokens(NDArray map) {
        return map.transpose(0, 2, 3, 1);
    }

    private record Stage(List<Layer> blocks, Optional<Layer> downsample) {}

    private final Config config;
    private final List<Stage> stages = new ArrayList<>();
    private final Map<Integer, Layer> outputs = new TreeMap<>();
    private final List<Module> frozen = new ArrayList<>();
    private Layer stem;

    StagedTransformer(Config config) {
        this.config = config;
    }

    /** Sets the layer that maps images {@code [N, 3, H, W]} to tokens of the first stage. */
    final void setStem(Layer layer) {
        stem = layer;
    }

    /**
     * Adds all stages.
     *
     * @param block creates and adds a block
     * @param downsample creates and adds the layer after a stage, 0 to 2
     */
    final void addStages(BlockFactory block, IntFunction<Optional<Layer>> downsample) {
        for (int s = 0; s < STAGES; s++) {
            List<Layer> blocks = new ArrayList<>();
            for (int b = 0; b < config.stages().depths().get(s); b++) {
                blocks.add(block.create(s, b));
            }
            boolean isLast = s == STAGES - 1;
            stages.add(new Stage(blocks, isLast ? Optional.empty() : downsample.apply(s)));
        }
    }

    final void addLastBlock(Layer block) {
        stages.get(STAGES - 1).blocks.add(block);
    }

    /** Adds a layer normalization {@code norm<i>} to every output, unless they are disabled. */
    final void addOutputNorms(float eps) {
        addOutputNorms(channels -> new LayerNorm(channels, eps));
    }

    final void addOutputNorms(IntFunction<Layer> norm) {
        if (!config.stages().outputNorms()) {
            return;
        }
        for (int s : config.stages().outIndices()) {
            outputs.put(s, add("norm" + s, norm.apply(config.channels(s))));
        }
    }

    /** Sets a layer without parameters that converts the tokens of a stage to its output. */
    final void addOutput(int stage, Layer output) {
        outputs.put(stage, output);
    }

    /** Freezes the configured stages; call it at the end of the constructor. */
    final void freezeStages() {
        if (config.stages().frozenStages() >= 0) {
            frozen.add(stem);
        }
        for (Stage stage : stages.subList(0, Math.max(config.stages().frozenStages(), 0))) {
            frozen.addAll(stage.blocks);
            stage.downsample.ifPresent(frozen::add);
        }
        frozen.forEach(Module::freeze);
        train(true);
    }

    /** {@inheritDoc} Each block is a layer, including the down-sampling after it, as in SimMIM. */
    @Override
    public final Map<String, Integer> layers() {
        List<List<Module>> layers = new ArrayList<>(List.of(List.of(stem)));
        for (Stage stage : stages) {
            int last = stage.blocks.size() - 1;
            stage.blocks.subList(0, last).forEach(block -> layers.add(List.of(block)));
            layers.add(
                    Stream.concat(Stream.of(stage.blocks.get(last)), stage.downsample.stream())
                            .map(Module.class::cast)
                            .toList());
        }
        return layersOf(layers);
    }

    @Override
    public final void train(boolean mode) {
        super.train(mode);
        frozen.forEach(module -> module.train(false));
    }

    @Override
    protected final FeaturePyramid forward(NDArray images) {
        int last = config.stages().outIndices().get(config.stages().outIndices().size() - 1);
        List<NDArray> levels = new ArrayList<>();
        NDArray x = images;
        for (int s = 0; s <= last; s++) {
            x = Scope.chain(x, steps(s));
            if (config.stages().outIndices().contains(s)) {
                Layer output = outputs.get(s);
                levels.add(toMap(output == null ? x : output.apply(x)));
            }
        }
        return new FeaturePyramid(levels);
    }

    /** Returns the layers from the output of the previous stage to the output of a stage. */
    private List<UnaryOperator<NDArray>> steps(int stage) {
        Optional<Layer> first = stage == 0 ? Optional.of(stem) : stages.get(stage - 1).downsample;
        List<UnaryOperator<NDArray>> steps = new ArrayList<>();
        first.ifPresent(steps::add);
        for (Layer block : stages.get(stage).blocks) {
            steps.add(
                    config.stages().activationCheckpointing()
                            ? x -> ActivationCheckpointing.run(block, x)
                            : block);
        }
        return steps;
    }

    @Override
    public final List<FeatureInfo> features() {
        return config.stages().outIndices().stream()
                .map(s -> new FeatureInfo(config.channels(s), config.stride(s)))
                .collect(ImmutableList.toImmutableList());
    }
}

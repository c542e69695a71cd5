package dev.saccade.backbones;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.nn.Parameter;

import com.google.common.math.IntMath;

import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Linear;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Activations;
import dev.saccade.core.ops.ElsaAttention;
import dev.saccade.core.ops.MultiplyAdds;
import dev.saccade.core.ops.Scope;
import dev.saccade.core.ops.ScriptTemplate;

import java.math.RoundingMode;
import java.util.Optional;

/**
 * Enhanced local self-attention (Zhou et al. 2021, "ELSA"): the products of queries and keys of the
 * same token, channel by channel, become the weights of the token's neighbourhood by convolutions,
 * and a ghost head varies the weights from channel to channel.
 */
public final class Elsa extends Layer {

    /** How products of queries and keys become logits. */
    public enum Form {
        /**
         * A convolution in groups of channels, GELU and a linear map, as in all models released.
         */
        RELEASED,
        /** A linear map of the token plus one of its neighbour: Eq. 7, by Algorithm 4. */
        STRICT
    }

    /**
     * The hyper-parameters.
     *
     * @param channels C, of input and output
     * @param valueChannels channels of the values
     * @param queryChannels channels of queries and of keys; rounded up to whole groups
     * @param heads sets of weights; each goes for a slice of the values
     * @param groupWidth channels of a group of the convolution
     * @param logitGroups groups of the linear map to the logits
     * @param qkvBias whether queries, keys and values have a bias
     * @param scale factor of the products of queries and keys
     * @param form how the products become logits
     * @param attention the neighbourhood and the ghost head
     */
    public record Config(
            int channels,
            int valueChannels,
            int queryChannels,
            int heads,
            int groupWidth,
            int logitGroups,
            boolean qkvBias,
            double scale,
            Form form,
            ElsaAttention attention) {

        /** Checks the values. */
        public Config {
            checkArgument(groupWidth > 0, "group_width: got %s, expected > 0", groupWidth);
            checkArgument(
                    valueChannels % heads == 0,
                    "num_heads: got %s, expected a divisor of %s channels",
                    heads,
                    valueChannels);
            queryChannels =
                    IntMath.divide(queryChannels, groupWidth, RoundingMode.CEILING) * groupWidth;
        }

        /** Returns two thirds of the channels, which all published models have as queries. */
        public static int queryChannels(int channels) {
            return channels / 3 * 2;
        }

        private int logits() {
            return attention.kernel() * attention.kernel() * heads;
        }

        private int reach() {
            return attention.kernel() / 2 * attention.dilation();
        }
    }

    private static final ScriptTemplate HADAMARD =
            ScriptTemplate.of(
                    "(x: Tensor) -> Tuple[Tensor, Tensor]",
                    """
                    parts = torch.split_with_sizes(x, [%1$d, %1$d, %2$d], 1)
                    product = parts[0] * parts[1]
                    if %3$s != 1.0:
                      product = torch.mul_(product, %3$s)
                    return (product, torch.permute(parts[2], [0, 2, 3, 1]))
                    """);

    private final Config config;
    private final Conv2d preProj;
    private final Layer logits;
    private final Optional<Parameter> ghostHead;
    private final Linear postProj;

    /** Makes a layer without weights. */
    public Elsa(Config config) {
        this.config = config;
        WeightInit init = WeightInit.uniform(1 / Math.sqrt(config.channels));
        int mapped = 2 * config.queryChannels + config.valueChannels;
        preProj =
                add(
                        "pre_proj",
                        new Conv2d(
                                new Geometry(config.channels, mapped, 1, 1, 0),
                                init,
                                config.qkvBias ? init : null));
        logits =
                add(
                        "attn",
                        switch (config.form) {
                            case RELEASED -> new Convolutions(config);
                            case STRICT -> new TokenAndNeighbour(config);
                        });
        ghostHead =
                config.attention
                        .ghostHead(config.valueChannels)
                        .map(shape -> parameter("ghost_head", shape, ghosts(config.attention)));
        postProj = add("post_proj", new Linear(config.valueChannels, config.channels));
    }

    private static WeightInit ghosts(ElsaAttention attention) {
        WeightInit factors = WeightInit.normal(1);
        WeightInit summands = WeightInit.truncatedNormal(0.02);
        if (attention.lambda() == 0 || attention.gamma() == 0) {
            return attention.lambda() == 0 ? summands : factors;
        }
        return (values, shape, random) -> {
            float[] half = new float[values.length / 2];
            factors.fill(half, shape, random);
            System.arraycopy(half, 0, values, 0, half.length);
            summands.fill(half, shape, random);
            System.arraycopy(half, 0, values, half.length, half.length);
        };
    }

    /**
     * Attends.
     *
     * @param x {@code [N, H, W, C]}
     * @return {@code [N, H, W, C]}
     */
    @Override
    public NDArray forward(NDArray x) {
        return Scope.array(
                () -> {
                    NDList parts =
                            HADAMARD.with(config.queryChannels, config.valueChannels, config.scale)
                                    .runAll(preProj.forward(x.transpose(0, 3, 1, 2)));
                    NDArray product = parts.get(0);
                    NDArray values = parts.get(1);
                    MultiplyAdds.add(product.size());
                    return postProj.forward(
                            config.attention.attend(
                                    values,
                                    logits.forward(product),
                                    ghostHead.map(Parameter::getArray)));
                });
    }

    /**
     * From {@code [N, Q, H, W]} to logits {@code [N, H, W, heads K^2]} as in all models released.
     */
    private static final class Convolutions extends Layer {

        private final Conv2d spread;
        private final Conv2d mapped;

        Convolutions(Config config) {
            int width = config.queryChannels;
            ElsaAttention attention = config.attention;
            spread =
                    add(
                            "0",
                            Conv2d.withDefaultInit(
                                    new Geometry(
                                            width,
                                            width,
                                            attention.kernel(),
                                            1,
                                            config.reach(),
                                            attention.dilation(),
                                            width / config.groupWidth)));
            mapped =
                    add(
                            "2",
                            Conv2d.withDefaultInit(
                                    new Geometry(
                                            width,
                                            config.logits(),
                                            1,
                                            1,
                                            0,
                                            1,
                                            config.logitGroups)));
        }

        @Override
        public NDArray forward(NDArray x) {
            return Scope.array(
                    () ->
                            mapped.forward(Activations.gelu(spread.forward(x)))
                                    .transpose(0, 2, 3, 1));
        }
    }

    /** From {@code [N, Q, H, W]} to logits {@code [N, H, W, heads K^2]} by the paper's Eq. 7. */
    private static final class TokenAndNeighbour extends Layer {

        /** Takes from each neighbour, out of what it has for all offsets, what is for its own. */
        private static final ScriptTemplate MEET =
                ScriptTemplate.of(
                        "(x: Tensor) -> Tensor",
                        """
                        n = torch.size(x, 0)
                        h = torch.size(x, 2)
                        w = torch.size(x, 3)
                        pairs = torch.permute(x, [0, 2, 3, 1])
                        pairs = torch.reshape(pairs, [n, h, w, -1, %1$d * %1$d, 2])
                        halves = torch.unbind(pairs, 5)
                        pad = [0, 0, 0, 0, %3$d, %3$d, %3$d, %3$d]
                        offsets = torch.unbind(torch.constant_pad_nd(halves[1], pad), 4)
                        near = annotate(List[Tensor], [])
                        for i in range(%1$d):
                          for j in range(%1$d):
                            rows = torch.slice(offsets[i * %1$d + j], 1, i * %2$d, i * %2$d + h)
                            near = torch.append(near, torch.slice(rows, 2, j * %2$d, j * %2$d + w))
                        logits = torch.add_(torch.stack(near, 4), halves[0])
                        return torch.reshape(logits, [n, h, w, -1])
                        """);

        private final Conv2d mapped;
        private final Config config;

        TokenAndNeighbour(Config config) {
            this.config = config;
            WeightInit init = WeightInit.truncatedNormal(0.02);
            mapped =
                    add(
                            "",
                            new Conv2d(
                                    new Geometry(
                                            config.queryChannels, 2 * config.logits(), 1, 1, 0),
                                    init,
                                    init));
        }

        @Override
        public NDArray forward(NDArray x) {
            ElsaAttention attention = config.attention;
            return Scope.array(
                    () ->
                            MEET.with(attention.kernel(), attention.dilation(), config.reach())
                                    .run(mapped.forward(x)));
        }
    }
}

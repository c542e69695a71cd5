package dev.saccade.backbones;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.nn.Parameter;

import com.google.common.math.IntMath;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Default;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Linear;
import dev.saccade.core.nn.Sequential;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.attention.ElsaAttention;
import dev.saccade.core.ops.script.MultiplyAdds;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.math.RoundingMode;
import java.util.Map;
import java.util.Optional;

/**
 * Enhanced local self-attention (Zhou et al. 2021, "ELSA"): convolutions turn per-channel query-key
 * products (Hadamard attention) into weights of the neighborhood; a ghost head varies them per
 * channel.
 */
public final class Elsa extends Layer {

    /** Computation of the logits from query-key products. */
    public enum Form {
        /** Grouped convolution, GELU and a linear layer, as in all released models. */
        RELEASED,
        /** Sum of linear layers of the token and its neighbor: Eq. 7 and Algorithm 4. */
        STRICT
    }

    /**
     * Settings with the names of the official code.
     *
     * @param groupWidth channels per group of the convolution; must match the checkpoint: 4 for
     *     tiny, else 8
     * @param lam exponent λ of the factors of the ghost head; 0 for none
     * @param gamma factor γ of the summands of the ghost head; 0 for none
     */
    public record Config(
            @Default("7") int elsaKernel,
            @Default("1") int dilation,
            @Default("4") int groupWidth,
            @Default("0") double lam,
            @Default("1") double gamma,
            @Default("1") double elsaScale,
            @Default("released") Form form) {

        private static final int MAX_REACH = 100;

        public Config {
            new Checks()
                    .inRange("elsa_kernel", elsaKernel, 1, 49)
                    .inRange("dilation", dilation, 1, 100)
                    .inRange("group_width", groupWidth, 1, 8192)
                    .inRange("lam", lam, -10, 10)
                    .inRange("gamma", gamma, -1000, 1000)
                    .inRange("elsa_scale", elsaScale, 0, 1000)
                    .throwIfAny();
            Checks.require(elsaKernel % 2 == 1, "elsa_kernel", elsaKernel, "an odd number");
            Checks.require(
                    elsaKernel / 2 * dilation <= MAX_REACH,
                    "dilation",
                    dilation,
                    "a neighborhood of at most %s tokens in each direction with elsa_kernel %s",
                    MAX_REACH,
                    elsaKernel);
        }

        private int reach() {
            return elsaKernel / 2 * dilation;
        }
    }

    /**
     * Channels of a layer.
     *
     * @param queries rounded up to a multiple of {@link Config#groupWidth}
     * @param logitGroups groups of the 1x1 convolution that computes the logits
     */
    public record Widths(int channels, int values, int queries, int logitGroups) {

        /** Widths of all published models: queries have two thirds of the channels. */
        public Widths(int channels) {
            this(channels, channels, channels / 3 * 2, 1);
        }
    }

    private static final ScriptTemplate HADAMARD =
            ScriptTemplate.of(
                    "(x: Tensor) -> Tuple[Tensor, Tensor]",
                    """
                    parts = torch.split_with_sizes(x, [{queries}, {queries}, {values}], 1)
                    product = parts[0] * parts[1]
                    if {scale} != 1.0:
                      product = torch.mul_(product, {scale})
                    return (product, torch.permute(parts[2], [0, 2, 3, 1]))
                    """);

    private final ElsaAttention attention;
    private final int queries;
    private final int values;
    private final double scale;
    private final Conv2d preProj;
    private final Layer logits;
    private final Optional<Parameter> ghostHead;
    private final Linear postProj;

    /** Creates an uninitialized layer; each head weights a slice of the values. */
    public Elsa(Widths widths, int heads, boolean qkvBias, Config config) {
        values = widths.values;
        checkArgument(
                values % heads == 0,
                "num_heads: got %s, expected a divisor of %s channels",
                heads,
                values);
        int group = config.groupWidth;
        queries = IntMath.divide(widths.queries, group, RoundingMode.CEILING) * group;
        scale = config.elsaScale;
        attention = new ElsaAttention(config.elsaKernel, config.dilation, config.lam, config.gamma);
        WeightInit init = WeightInit.uniform(1 / Math.sqrt(widths.channels));
        preProj =
                add(
                        "pre_proj",
                        new Conv2d(
                                new Geometry(widths.channels, 2 * queries + values, 1),
                                init,
                                qkvBias ? init : null));
        int weights = config.elsaKernel * config.elsaKernel * heads;
        logits =
                add(
                        "attn",
                        switch (config.form) {
                            case RELEASED ->
                                    convolutions(queries, weights, widths.logitGroups, config);
                            case STRICT -> new TokenAndNeighbor(queries, weights, config);
                        });
        ghostHead =
                attention
                        .ghostHead(values)
                        .map(shape -> parameter("ghost_head", shape, ghostInit(attention)));
        postProj = add("post_proj", new Linear(values, widths.channels));
    }

    private static WeightInit ghostInit(ElsaAttention attention) {
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

    @Override
    protected NDArray forward(NDArray x) {
        NDList parts =
                HADAMARD.with(
                                Map.of(
                                        "queries", queries,
                                        "values", values,
                                        "scale", scale))
                        .runAll(preProj.apply(x.transpose(0, 3, 1, 2)));
        NDArray product = parts.get(0);
        MultiplyAdds.add(product.size());
        return postProj.apply(
                attention.attend(
                        parts.get(1), logits.apply(product), ghostHead.map(Parameter::getArray)));
    }

    /**
     * Returns the layer that maps {@code [N, Q, H, W]} to logits {@code [N, H, W, heads K^2]} in
     * all released models.
     */
    private static Layer convolutions(int queries, int weights, int groups, Config config) {
        Geometry spread =
                new Geometry(queries, queries, config.elsaKernel)
                        .padding(config.reach())
                        .dilation(config.dilation)
                        .groups(queries / config.groupWidth);
        Geometry mapped = new Geometry(queries, weights, 1).groups(groups);
        return new Sequential()
                .append(Conv2d.withDefaultInit(spread))
                .then(Functional::gelu)
                .append(Conv2d.withDefaultInit(mapped))
                .then(StagedTransformer::toTokens);
    }

    /** Maps {@code [N, Q, H, W]} to logits {@code [N, H, W, heads K^2]} by Eq. 7. */
    private static final class TokenAndNeighbor extends Layer {

        /** To the token's logit, adds the logit that each neighbor has for its offset. */
        private static final ScriptTemplate ADD_NEIGHBOR_LOGITS =
                ScriptTemplate.of(
                        "(x: Tensor) -> Tensor",
                        """
                        kernel = {kernel}
                        reach = {reach}
                        dilation = {dilation}
                        n = torch.size(x, 0)
                        h = torch.size(x, 2)
                        w = torch.size(x, 3)
                        pairs = torch.permute(x, [0, 2, 3, 1])
                        pairs = torch.reshape(pairs, [n, h, w, -1, kernel * kernel, 2])
                        halves = torch.unbind(pairs, 5)
                        pad = [0, 0, 0, 0, reach, reach, reach, reach]
                        offsets = torch.unbind(torch.constant_pad_nd(halves[1], pad), 4)
                        near = annotate(List[Tensor], [])
                        for i in range(kernel):
                          for j in range(kernel):
                            rows = torch.slice(offsets[i * kernel + j], 1, i * dilation, i * dilation + h)
                            near = torch.append(near, torch.slice(rows, 2, j * dilation, j * dilation + w))
                        logits = torch.add_(torch.stack(near, 4), halves[0])
                        return torch.reshape(logits, [n, h, w, -1])
                        """);

        private final Conv2d mapped;
        private final Config config;

        TokenAndNeighbor(int queries, int weights, Config config) {
            this.config = config;
            WeightInit init = WeightInit.truncatedNormal(0.02);
            mapped = add("", new Conv2d(new Geometry(queries, 2 * weights, 1), init, init));
        }

        @Override
        protected NDArray forward(NDArray x) {
            return ADD_NEIGHBOR_LOGITS
                    .with(
                            Map.of(
                                    "kernel", config.elsaKernel,
                                    "dilation", config.dilation,
                                    "reach", config.reach()))
                    .run(mapped.apply(x));
        }
    }
}

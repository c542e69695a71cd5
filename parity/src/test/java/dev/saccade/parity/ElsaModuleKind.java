package dev.saccade.parity;

import ai.djl.ndarray.NDArray;

import dev.saccade.backbones.Elsa;
import dev.saccade.config.Configs;
import dev.saccade.core.ops.attention.ElsaAttention;

import java.util.Map;

/** Output and gradients of the ELSA module. */
final class ElsaModuleKind implements Kind {

    @Override
    public void run(Case recorded) {
        recorded.settings().describes("input_shape", "derived");
        recorded.settings().onlyClass("cls", "ELSA");
        Elsa elsa = elsa(recorded.config());
        RecordedWeights.load(recorded, elsa);
        elsa.train(false);
        NDArray x = recorded.tensor("x");
        Backward.compareOne(recorded, Map.of("x", x), () -> elsa.apply(x));
        Backward.parameters(recorded, elsa);
    }

    private static Elsa elsa(Settings config) {
        config.only("stride", 1);
        config.only("attn_drop", 0.0);
        config.only("proj_drop", 0.0);
        Elsa.Widths usual = new Elsa.Widths(config.integer("dim"));
        int values = config.integer("dim_v", usual.channels());
        int queries = config.integer("dim_qk", usual.queries());
        int heads = config.integer("num_heads");
        double headChannels = Math.floorDiv(values, heads);
        return new Elsa(
                new Elsa.Widths(usual.channels(), values, queries, config.integer("groups", 1)),
                heads,
                config.flag("qkv_bias", false),
                Configs.of(
                        Elsa.Config.class,
                        "elsa_kernel=" + config.integer("kernel_size", 5),
                        "dilation=" + config.integer("dilation", 1),
                        "group_width=" + config.integer("group_width", 8),
                        "lam=" + config.number("lam", 1),
                        "gamma=" + config.number("gamma", 1),
                        "elsa_scale=" + config.number("qk_scale", 1 / Math.sqrt(headChannels))));
    }

    /** Returns the operator for the original settings. */
    static ElsaAttention attention(Settings config) {
        return new ElsaAttention(
                config.integer("kernel_size", 5),
                config.integer("dilation", 1),
                config.number("lam", 1),
                config.number("gamma", 1));
    }
}

package dev.saccade.parity;

import ai.djl.ndarray.NDArray;

import dev.saccade.backbones.Elsa;
import dev.saccade.core.ops.ElsaAttention;

import java.util.Map;

/** What the module of ELSA makes of a map of tokens, and gradients. */
final class ElsaModuleKind implements Kind {

    @Override
    public void run(Case recorded) {
        recorded.settings().describes("input_shape", "derived");
        recorded.settings().onlyClass("cls", "ELSA");
        Elsa elsa = new Elsa(config(recorded.config()));
        RecordedWeights.load(recorded, elsa);
        elsa.train(false);
        NDArray x = recorded.tensor("x");
        Backward.compareOne(recorded, Map.of("x", x), () -> elsa.forward(x));
        Backward.parameters(recorded, elsa);
    }

    private static Elsa.Config config(Settings config) {
        config.only("stride", 1);
        config.only("attn_drop", 0.0);
        config.only("proj_drop", 0.0);
        int channels = config.integer("dim");
        int values = config.integer("dim_v", channels);
        int heads = config.integer("num_heads");
        double headChannels = Math.floorDiv(values, heads);
        return new Elsa.Config(
                channels,
                values,
                config.integer("dim_qk", Elsa.Config.queryChannels(channels)),
                heads,
                config.integer("group_width", 8),
                config.integer("groups", 1),
                config.flag("qkv_bias", false),
                config.number("qk_scale", 1 / Math.sqrt(headChannels)),
                Elsa.Form.RELEASED,
                attention(config));
    }

    /** Returns the operator of the original's settings. */
    static ElsaAttention attention(Settings config) {
        return new ElsaAttention(
                config.integer("kernel_size", 5),
                config.integer("dilation", 1),
                config.number("lam", 1),
                config.number("gamma", 1));
    }
}

package dev.saccade.parity;

import ai.djl.ndarray.NDArray;

import dev.saccade.backbones.ResNet;
import dev.saccade.core.parts.Backbone;

import java.util.List;
import java.util.Map;

/** Features of a backbone and, where recorded, gradients. */
final class BackboneKind implements Kind {

    @Override
    public void run(Case recorded) {
        recorded.settings().describes("input_shape", "derived");
        Backbone backbone = config(recorded.settings().text("cls"), recorded.config()).build();
        RecordedWeights.load(recorded, backbone);
        backbone.train(false);
        NDArray x = recorded.tensor("x");
        Backward.compare(recorded, Map.of("x", x), backbone, () -> backbone.forward(x).levels());
    }

    /** Returns the backbone of mmdetection's class and settings. */
    static Backbone.Config config(String cls, Settings config) {
        if (!cls.equals("ResNet")) {
            throw config.unsupported("no backbone " + cls);
        }
        config.only("in_channels", 3);
        config.only("num_stages", 4);
        config.only("strides", List.of(1, 2, 2, 2));
        config.only("dilations", List.of(1, 1, 1, 1));
        config.only("style", "pytorch");
        config.only("deep_stem", false);
        config.only("avg_down", false);
        Settings norm = config.objectOrEmpty("norm_cfg");
        norm.only("type", "BN");
        norm.only("requires_grad", true);
        int baseChannels = config.integer("base_channels", 64);
        return new ResNet.Config(
                config.integer("depth"),
                config.integer("stem_channels", baseChannels),
                baseChannels,
                config.has("out_indices") ? config.integers("out_indices") : List.of(0, 1, 2, 3),
                config.integer("frozen_stages", -1),
                config.flag("norm_eval", true),
                config.flag("zero_init_residual", true));
    }
}

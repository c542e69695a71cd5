package dev.saccade.parity;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.backbones.DwNet;
import dev.saccade.backbones.Elsa;
import dev.saccade.backbones.ElsaSwin;
import dev.saccade.backbones.Focal;
import dev.saccade.backbones.Pvt;
import dev.saccade.backbones.ResNet;
import dev.saccade.backbones.Swin;
import dev.saccade.core.nn.Module;
import dev.saccade.core.ops.Windows;
import dev.saccade.core.parts.Backbone;

import org.opentest4j.TestAbortedException;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Features of a backbone and, where recorded, gradients. */
final class BackboneKind implements Kind {

    private static final Pattern LAYER_NORM =
            Pattern.compile("(?:nn\\.)?LayerNorm(?: eps=([-+.e\\d]+))?.*");

    @Override
    public void run(Case recorded) {
        recorded.settings().describes("input_shape", "derived");
        Settings config = recorded.config();
        Backbone.Config built = config(recorded.settings().text("cls"), config);
        Module module =
                built instanceof Focal.Config focal
                        ? new FocalClassifier(focal, config.integer("num_classes", 1000))
                        : built.build();
        RecordedWeights.load(recorded, module);
        module.train(false);
        NDArray x = recorded.tensor("x");
        Backward.compare(recorded, Map.of("x", x), module, () -> module.call(new NDList(x)));
        if (module instanceof FocalClassifier classifier) {
            classifier.compareEnds(recorded, x);
        }
    }

    /** Returns the backbone of mmdetection's class and settings. */
    static Backbone.Config config(String cls, Settings config) {
        return switch (cls) {
            case "ResNet" -> resnet(config, false);
            case "ResNetV1c" -> resnet(config, true);
            case "SwinTransformer" -> swin(config);
            case "ELSASwin" -> elsaSwin(config);
            case "PyramidVisionTransformer" -> pvt(config);
            case "DWNet" -> dwnet(config);
            case "FocalTransformer" -> FocalClassifier.config(config);
            default -> throw new TestAbortedException("nothing is built for the backbone " + cls);
        };
    }

    private static Backbone.Config swin(Settings config) {
        config.only("patch_size", 4);
        config.only("in_chans", 3);
        config.only("qk_scale", null);
        config.only("drop_rate", 0.0);
        config.only("attn_drop_rate", 0.0);
        return new Swin.Config(
                "tiny",
                config.integer("embed_dim", 96),
                config.integers("depths"),
                config.integers("num_heads"),
                config.integer("window_size", 7),
                Windows.Order.PAD_THEN_SHIFT,
                config.number("mlp_ratio", 4),
                config.flag("qkv_bias", true),
                config.flag("patch_norm", true),
                config.flag("ape", false),
                config.integer("pretrain_img_size", 224),
                config.number("drop_path_rate", 0.2),
                config.integers("out_indices", List.of(0, 1, 2, 3)),
                config.integer("frozen_stages", -1),
                config.flag("use_checkpoint", false));
    }

    private static Backbone.Config elsaSwin(Settings config) {
        config.only("patch_size", 4);
        config.only("in_chans", 3);
        config.only("drop_rate", 0.0);
        config.only("attn_drop_rate", 0.0);
        return new ElsaSwin.Config(
                "tiny",
                config.integer("embed_dim", 96),
                config.integers("depths", List.of(2, 2, 6, 2)),
                config.integers("num_heads", List.of(3, 6, 12, 24)),
                3,
                config.integer("elsa_kernel", 7),
                config.integer("dilation", 1),
                config.integer("group_width", 8),
                config.integer("lam", 0),
                config.number("gamma", 1),
                1,
                Elsa.Form.RELEASED,
                config.integer("window_size", 7),
                Windows.Order.PAD_THEN_SHIFT,
                config.has("qk_scale") ? Optional.of(config.number("qk_scale")) : Optional.empty(),
                config.number("mlp_ratio", 4),
                config.flag("qkv_bias", true),
                config.flag("patch_norm", true),
                config.flag("ape", false),
                config.integer("pretrain_img_size", 224),
                config.number("drop_path_rate", 0.2),
                config.integers("out_indices", List.of(0, 1, 2, 3)),
                config.integer("frozen_stages", -1),
                config.flag("use_checkpoint", false));
    }

    private static Backbone.Config pvt(Settings config) {
        if (config.integer("patch_size", 16) != 4) {
            throw config.refused("patch_size", "built is only 4");
        }
        config.only("in_chans", 3);
        config.only("num_stages", 4);
        config.only("qk_scale", null);
        config.only("drop_rate", 0.0);
        config.only("attn_drop_rate", 0.0);
        config.only("pretrained", null);
        config.describes("num_classes");
        return new Pvt.Config(
                "small",
                config.integers("embed_dims", List.of(64, 128, 256, 512)),
                config.integers("depths", List.of(3, 4, 6, 3)),
                config.integers("num_heads", List.of(1, 2, 4, 8)),
                config.integers("mlp_ratios", List.of(4, 4, 4, 4)),
                config.integers("sr_ratios", List.of(8, 4, 2, 1)),
                config.flag("qkv_bias", false),
                normEps(config),
                config.integer("img_size", 224),
                config.number("drop_path_rate", 0),
                config.flag("F4", false) ? List.of(3) : List.of(0, 1, 2, 3),
                -1,
                false);
    }

    /** Returns the eps that the description of a layer normalisation names, or PyTorch's. */
    private static double normEps(Settings config) {
        if (!config.has("norm_layer")) {
            return 1e-5;
        }
        Matcher layerNorm = LAYER_NORM.matcher(config.text("norm_layer"));
        if (!layerNorm.matches()) {
            throw config.refused("norm_layer", "expected LayerNorm with an eps");
        }
        return layerNorm.group(1) == null ? 1e-5 : Double.parseDouble(layerNorm.group(1));
    }

    private static Backbone.Config dwnet(Settings config) {
        config.only("patch_size", 4);
        config.only("in_chans", 3);
        config.only("drop_rate", 0.0);
        return new DwNet.Config(
                "tiny",
                config.integer("embed_dim", 96),
                config.integers("depths", List.of(2, 2, 6, 2)),
                config.integer("window_size", 7),
                config.number("mlp_ratio", 4),
                config.flag("dynamic", false),
                config.flag("patch_norm", true),
                config.flag("ape", false),
                config.integer("pretrain_img_size", 224),
                config.number("drop_path_rate", 0.2),
                config.integers("out_indices", List.of(0, 1, 2, 3)),
                config.integer("frozen_stages", -1),
                config.flag("use_checkpoint", false));
    }

    private static Backbone.Config resnet(Settings config, boolean deepStem) {
        config.only("in_channels", 3);
        config.only("num_stages", 4);
        config.only("strides", List.of(1, 2, 2, 2));
        config.only("dilations", List.of(1, 1, 1, 1));
        config.only("style", "pytorch");
        config.only("avg_down", false);
        // Of dilations, of which there are none.
        config.describes("contract_dilation");
        Settings norm = config.objectOrEmpty("norm_cfg");
        norm.onlyClass("type", "BN");
        norm.only("requires_grad", true);
        int baseChannels = config.integer("base_channels", 64);
        return new ResNet.Config(
                config.integer("depth"),
                config.integer("stem_channels", baseChannels),
                config.flag("deep_stem", deepStem),
                baseChannels,
                config.integers("out_indices", List.of(0, 1, 2, 3)),
                config.integer("frozen_stages", -1),
                config.flag("norm_eval", true),
                config.flag("zero_init_residual", true));
    }
}

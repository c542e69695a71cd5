package dev.saccade.parity;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.backbones.DwNet;
import dev.saccade.backbones.ElsaSwin;
import dev.saccade.backbones.Focal;
import dev.saccade.backbones.Pvt;
import dev.saccade.backbones.ResNet;
import dev.saccade.backbones.Swin;
import dev.saccade.config.Configs;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.nn.Module;

import org.opentest4j.TestAbortedException;

import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

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

    /** Returns the backbone for mmdetection's class and settings. */
    static Backbone.Config config(String cls, Settings config) {
        return switch (cls) {
            case "ResNet" -> resnet(config, false);
            case "ResNetV1c" -> resnet(config, true);
            case "ResNeXt" -> resnext(config);
            case "SwinTransformer" -> swin(config);
            case "ELSASwin" -> elsaSwin(config);
            case "PyramidVisionTransformer" -> pvt(config);
            case "DWNet" -> dwnet(config);
            case "FocalTransformer" -> FocalClassifier.config(config);
            default -> throw new TestAbortedException("nothing is built for the backbone " + cls);
        };
    }

    /** Returns the settings of all Swin variants and those of one variant. */
    private static String[] swinSettings(Settings config, String... own) {
        config.only("patch_size", 4);
        config.only("in_chans", 3);
        config.only("drop_rate", 0.0);
        Stream<String> shared =
                Stream.of(
                        "embed_dim=" + config.integer("embed_dim", 96),
                        "depths=" + config.integers("depths", List.of(2, 2, 6, 2)),
                        "window_size=" + config.integer("window_size", 7),
                        "mlp_ratio=" + config.number("mlp_ratio", 4),
                        "patch_norm=" + config.flag("patch_norm", true),
                        "ape=" + config.flag("ape", false),
                        "pretrain_img_size=" + config.integer("pretrain_img_size", 224),
                        "drop_path_rate=" + config.number("drop_path_rate", 0.2),
                        "out_indices=" + config.integers("out_indices", List.of(0, 1, 2, 3)),
                        "frozen_stages=" + config.integer("frozen_stages", -1),
                        "activation_checkpointing=" + config.flag("use_checkpoint", false));
        return Stream.concat(shared, Stream.of(own)).toArray(String[]::new);
    }

    private static Backbone.Config swin(Settings config) {
        config.only("qk_scale", null);
        config.only("attn_drop_rate", 0.0);
        return Configs.of(
                Swin.Config.class,
                swinSettings(
                        config,
                        "num_heads=" + config.integers("num_heads"),
                        "qkv_bias=" + config.flag("qkv_bias", true)));
    }

    private static Backbone.Config elsaSwin(Settings config) {
        config.only("attn_drop_rate", 0.0);
        return Configs.of(
                ElsaSwin.Config.class,
                swinSettings(
                        config,
                        "num_heads=" + config.integers("num_heads", List.of(3, 6, 12, 24)),
                        "elsa_kernel=" + config.integer("elsa_kernel", 7),
                        "dilation=" + config.integer("dilation", 1),
                        "group_width=" + config.integer("group_width", 8),
                        "lam=" + config.integer("lam", 0),
                        "gamma=" + config.number("gamma", 1),
                        "qk_scale=" + (config.has("qk_scale") ? config.number("qk_scale") : null),
                        "qkv_bias=" + config.flag("qkv_bias", true)));
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
        return Configs.of(
                Pvt.Config.class,
                "embed_dims=" + config.integers("embed_dims", List.of(64, 128, 256, 512)),
                "depths=" + config.integers("depths", List.of(3, 4, 6, 3)),
                "num_heads=" + config.integers("num_heads", List.of(1, 2, 4, 8)),
                "mlp_ratios=" + config.integers("mlp_ratios", List.of(4, 4, 4, 4)),
                "sr_ratios=" + config.integers("sr_ratios", List.of(8, 4, 2, 1)),
                "qkv_bias=" + config.flag("qkv_bias", false),
                "norm_eps=" + normEps(config),
                "pretrain_img_size=" + config.integer("img_size", 224),
                "drop_path_rate=" + config.number("drop_path_rate", 0),
                "out_indices=" + (config.flag("F4", false) ? "[3]" : "[0, 1, 2, 3]"));
    }

    /** Returns the eps of a layer normalization, or PyTorch's default. */
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
        return Configs.of(
                DwNet.Config.class,
                swinSettings(config, "dynamic=" + config.flag("dynamic", false)));
    }

    private static Backbone.Config resnext(Settings config) {
        int groups = config.integer("groups", 1);
        int baseWidth = config.integer("base_width", 4);
        // Without groups, the original ignores the width.
        return resnet(
                config, false, "groups=" + groups, "base_width=" + (groups == 1 ? 64 : baseWidth));
    }

    private static Backbone.Config resnet(Settings config, boolean deepStem, String... own) {
        config.only("in_channels", 3);
        config.only("num_stages", 4);
        config.only("strides", List.of(1, 2, 2, 2));
        config.only("dilations", List.of(1, 1, 1, 1));
        config.only("style", "pytorch");
        config.only("avg_down", false);
        // Concerns dilation, which is not used.
        config.describes("contract_dilation");
        int baseChannels = config.integer("base_channels", 64);
        Stream<String> shared =
                Stream.of(
                        "depth=" + config.integer("depth"),
                        "stem_channels=" + config.integer("stem_channels", baseChannels),
                        "deep_stem=" + config.flag("deep_stem", deepStem),
                        "base_channels=" + baseChannels,
                        "out_indices=" + config.integers("out_indices", List.of(0, 1, 2, 3)),
                        "frozen_stages=" + config.integer("frozen_stages", -1),
                        "norm_eval=" + config.flag("norm_eval", true),
                        "norm=" + norm(config.objectOrEmpty("norm_cfg")),
                        "zero_init_residual=" + config.flag("zero_init_residual", true));
        return Configs.of(
                ResNet.Config.class, Stream.concat(shared, Stream.of(own)).toArray(String[]::new));
    }

    private static String norm(Settings norm) {
        norm.only("requires_grad", true);
        String type = norm.has("type") ? norm.text("type") : "BN";
        return switch (type) {
            case "BN" -> "bn";
            case "SyncBN" -> "sync_bn";
            default -> throw norm.unbuilt("type");
        };
    }
}

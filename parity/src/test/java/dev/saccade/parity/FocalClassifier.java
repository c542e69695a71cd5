package dev.saccade.parity;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.backbones.Focal;
import dev.saccade.config.Configs;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.LayerNorm;
import dev.saccade.core.nn.Linear;
import dev.saccade.core.nn.Module;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The official Focal Transformer, a classifier around the backbone. */
final class FocalClassifier extends Module {

    private final Focal backbone;
    private final LayerNorm norm;
    private final Optional<Linear> head;

    /** Returns the backbone for the official settings. */
    static Focal.Config config(Settings config) {
        config.only("patch_size", 4);
        config.only("in_chans", 3);
        config.only("qk_scale", null);
        config.only("drop_rate", 0.0);
        config.only("attn_drop_rate", 0.0);
        config.describes("expand_stages", "num_classes");
        return Configs.of(
                Focal.Config.class,
                "variant=tiny_224",
                "embed_dim=" + config.integer("embed_dim", 96),
                "depths=" + config.integers("depths", List.of(2, 2, 6, 2)),
                "num_heads=" + config.integers("num_heads", List.of(3, 6, 12, 24)),
                "window_size=" + config.integer("window_size", 7),
                "focal_levels=" + levels(config),
                "focal_windows=" + config.integers("focal_windows", List.of(7, 5, 3, 1)),
                "expand_sizes=" + expandSizes(config),
                "expand_layer=" + name(config, "expand_layer", "all"),
                "focal_pool=" + (isPooled(config) ? name(config, "focal_pool", "fc") : "fc"),
                "image_size=" + imageSize(config),
                "pad_to_patches=false",
                "use_shift=" + config.flag("use_shift", false),
                "use_conv_embed=" + config.flag("use_conv_embed", false),
                "use_pre_norm=" + config.flag("use_pre_norm", false),
                "layer_scale="
                        + (config.flag("use_layerscale", false)
                                ? config.number("layerscale_value", 1e-4)
                                : null),
                "mlp_ratio=" + config.number("mlp_ratio", 4),
                "qkv_bias=" + config.flag("qkv_bias", true),
                "patch_norm=" + config.flag("patch_norm", true),
                "ape=" + config.flag("ape", false),
                "output_norms=false",
                "drop_path_rate=" + config.number("drop_path_rate", 0.1),
                "activation_checkpointing=" + config.flag("use_checkpoint", false));
    }

    private static String name(Settings config, String key, String otherwise) {
        String value = config.has(key) ? config.text(key) : otherwise;
        return value.toLowerCase(Locale.ROOT);
    }

    private static boolean isPooled(Settings config) {
        return !name(config, "focal_pool", "fc").equals("none");
    }

    private static List<Integer> focalLevels(Settings config) {
        return config.integers("focal_levels", List.of(1, 1, 1, 1));
    }

    /** A stage without pooling has only its tokens as levels. */
    private static List<Integer> levels(Settings config) {
        List<Integer> stages = config.integers("focal_stages", List.of(0, 1, 2, 3));
        List<Integer> levels = new ArrayList<>(focalLevels(config));
        for (int s = 0; s < levels.size(); s++) {
            if (!isPooled(config) || !stages.contains(s)) {
                levels.set(s, 1);
            }
        }
        levels.replaceAll(level -> Math.max(level, 1));
        return levels;
    }

    /** A stage without levels attends only to the window. */
    private static List<Integer> expandSizes(Settings config) {
        List<Integer> sizes = new ArrayList<>(config.integers("expand_sizes", List.of(3, 3, 3, 3)));
        for (int s = 0; s < sizes.size(); s++) {
            if (focalLevels(config).get(s) == 0) {
                sizes.set(s, 0);
            }
        }
        return sizes;
    }

    private static List<Integer> imageSize(Settings config) {
        if (config.has("img_size") && config.json("img_size").isArray()) {
            return config.integers("img_size");
        }
        int side = config.integer("img_size", 224);
        return List.of(side, side);
    }

    FocalClassifier(Focal.Config config, int classes) {
        int channels = config.channels(3);
        backbone = add("", config.build());
        norm = add("norm", new LayerNorm(channels));
        head =
                classes > 0
                        ? Optional.of(add("head", new Linear(channels, classes)))
                        : Optional.empty();
    }

    @Override
    public NDList call(NDList inputs) {
        return backbone.call(inputs);
    }

    /** Compares the input of the first stage and the output of the last. */
    void compareEnds(Case recorded, NDArray images) {
        Tolerance tolerance = Tolerance.parse(recorded.settings().text("tolerance"));
        Module stem = (Module) backbone.getChildren().valueAt(0);
        Layer patches = (Layer) stem.getChildren().get("patch_embed");
        recorded.compare("patch_embed", flat(patches.apply(images)), tolerance);
        NDArray last = backbone.apply(images).levels().get(3);
        NDArray tokens = flat(norm.apply(last.transpose(0, 2, 3, 1)));
        recorded.compare("final_norm", tokens, tolerance);
        NDArray mean = tokens.mean(new int[] {1});
        NDArray logits = head.map(layer -> layer.apply(mean)).orElse(mean);
        recorded.compare("logits", logits, tolerance);
    }

    private static NDArray flat(NDArray tokens) {
        return tokens.reshape(tokens.getShape().get(0), -1, tokens.getShape().get(3));
    }
}

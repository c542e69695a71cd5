package dev.saccade.models;

import com.google.common.collect.ImmutableTable;
import com.google.common.collect.Table;

import dev.saccade.config.ConfigNode;

import java.util.LinkedHashMap;
import java.util.Map;

/** Reads model descriptions of earlier versions, in which some keys have other names. */
final class StoredSpec {

    private static final String ROOT = "";

    /** Current keys by section type (or section key, if it has no type) and earlier key. */
    private static final Table<String, String, String> RENAMED =
            ImmutableTable.<String, String, String>builder()
                    .put(ROOT, "views", "tta")
                    .put(ROOT, "val_views", "val_tta")
                    .put("delta_xywh", "means", "target_means")
                    .put("delta_xywh", "stds", "target_stds")
                    .put("bbox_coder", "means", "target_means")
                    .put("bbox_coder", "stds", "target_stds")
                    .put("nms", "iou_thr", "iou_threshold")
                    .put("soft_nms", "iou_thr", "iou_threshold")
                    .put("train_proposals", "iou_thr", "iou_threshold")
                    .put("test_proposals", "iou_thr", "iou_threshold")
                    .build();

    private StoredSpec() {}

    /** Returns the stored description with the current keys. */
    static ConfigNode.Mapping current(ConfigNode.Mapping stored) {
        Map<String, ConfigNode> entries = new LinkedHashMap<>(renamed(ROOT, stored).entries());
        entries.computeIfPresent("tta", (key, tta) -> named(tta));
        return new ConfigNode.Mapping(entries, stored.origin());
    }

    /** Returns named augmentations, or null if none; the default name is {@code multi_scale}. */
    private static ConfigNode named(ConfigNode tta) {
        if (tta instanceof ConfigNode.Null) {
            return null;
        }
        boolean single =
                tta.child("scales").filter(ConfigNode.Sequence.class::isInstance).isPresent();
        return single ? new ConfigNode.Mapping(Map.of("multi_scale", tta), tta.origin()) : tta;
    }

    private static ConfigNode.Mapping renamed(String key, ConfigNode.Mapping section) {
        String type =
                section.get("type")
                        .filter(ConfigNode.Scalar.class::isInstance)
                        .map(node -> ((ConfigNode.Scalar) node).value().toString())
                        .orElse(key);
        Map<String, String> names = RENAMED.row(type);
        Map<String, ConfigNode> entries = new LinkedHashMap<>();
        section.entries()
                .forEach((k, value) -> entries.put(names.getOrDefault(k, k), renamed(k, value)));
        return new ConfigNode.Mapping(entries, section.origin());
    }

    private static ConfigNode renamed(String key, ConfigNode node) {
        if (node instanceof ConfigNode.Mapping section) {
            return renamed(key, section);
        }
        if (node instanceof ConfigNode.Sequence list) {
            return new ConfigNode.Sequence(
                    list.items().stream().map(item -> renamed(key, item)).toList(), list.origin());
        }
        return node;
    }
}

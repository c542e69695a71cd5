package dev.saccade.models.checkpoint;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The names of official checkpoints in Saccade's terms, which are those of mmdetection.
 *
 * <p>torchvision's detectors: {@code retinanet_resnet50_fpn} has another name for every tensor of
 * the same shape and meaning, in files of either age. Its FCOS shares backbone and FPN.
 */
final class OfficialNames {

    private record Rule(Pattern pattern, String replacement) {}

    /** The first rule that matches the whole name names the tensor anew. */
    private static final List<Rule> RULES =
            List.of(
                    rule("backbone\\.body\\.(.+)", "backbone.$1"),
                    rule("backbone\\.fpn\\.inner_blocks\\.(\\d)(?:\\.0)?\\.(\\w+)", lateral("$1")),
                    rule("backbone\\.fpn\\.layer_blocks\\.(\\d)(?:\\.0)?\\.(\\w+)", fpn("$1")),
                    rule("backbone\\.fpn\\.extra_blocks\\.p(6)\\.(\\w+)", fpn("3")),
                    rule("backbone\\.fpn\\.extra_blocks\\.p(7)\\.(\\w+)", fpn("4")),
                    rule("head\\.classification_head\\.conv\\.(\\d)\\.0\\.(\\w+)", cls("$1")),
                    rule("head\\.regression_head\\.conv\\.(\\d)\\.0\\.(\\w+)", reg("$1")),
                    rule("head\\.classification_head\\.conv\\.(0)\\.(\\w+)", cls("0")),
                    rule("head\\.classification_head\\.conv\\.(2)\\.(\\w+)", cls("1")),
                    rule("head\\.classification_head\\.conv\\.(4)\\.(\\w+)", cls("2")),
                    rule("head\\.classification_head\\.conv\\.(6)\\.(\\w+)", cls("3")),
                    rule("head\\.regression_head\\.conv\\.(0)\\.(\\w+)", reg("0")),
                    rule("head\\.regression_head\\.conv\\.(2)\\.(\\w+)", reg("1")),
                    rule("head\\.regression_head\\.conv\\.(4)\\.(\\w+)", reg("2")),
                    rule("head\\.regression_head\\.conv\\.(6)\\.(\\w+)", reg("3")),
                    rule(
                            "head\\.classification_head\\.cls_logits\\.(\\w+)",
                            "bbox_head.retina_cls.$1"),
                    rule("head\\.regression_head\\.bbox_reg\\.(\\w+)", "bbox_head.retina_reg.$1"));

    /**
     * Tensors that no model here has a place for, rightly: counters and index tables that are
     * computed anew, and the classifiers of pre-training.
     */
    private static final Pattern NEEDLESS =
            Pattern.compile(
                    ".*\\.(num_batches_tracked|relative_position_index(_\\w+)?|relative_id"
                            + "|attn_mask|valid_ind_rolled|valid_ind_unfold_\\w+)"
                            + "|fc\\.(weight|bias)|head\\.(fc\\.)?(weight|bias)");

    private OfficialNames() {}

    private static Rule rule(String pattern, String replacement) {
        return new Rule(Pattern.compile(pattern), replacement);
    }

    private static String lateral(String index) {
        return "neck.lateral_convs." + index + ".conv.$2";
    }

    private static String fpn(String index) {
        return "neck.fpn_convs." + index + ".conv.$2";
    }

    private static String cls(String index) {
        return "bbox_head.cls_convs." + index + ".conv.$2";
    }

    private static String reg(String index) {
        return "bbox_head.reg_convs." + index + ".conv.$2";
    }

    /** Returns a name in Saccade's terms. */
    static String translate(String name) {
        for (Rule rule : RULES) {
            Matcher matcher = rule.pattern.matcher(name);
            if (matcher.matches()) {
                return matcher.replaceFirst(rule.replacement);
            }
        }
        return name;
    }

    /** Returns whether it is right that a tensor finds no place. */
    static boolean isNeedless(String name) {
        return NEEDLESS.matcher(name).matches();
    }
}

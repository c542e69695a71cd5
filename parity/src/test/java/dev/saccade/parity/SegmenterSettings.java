package dev.saccade.parity;

import dev.saccade.config.Configs;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.HeadConfig;
import dev.saccade.core.components.Neck;
import dev.saccade.core.components.SegmentationHead;
import dev.saccade.core.nn.Norm;
import dev.saccade.heads.segmentation.FcnHead;
import dev.saccade.heads.segmentation.PixelCrossEntropy;
import dev.saccade.heads.segmentation.SemanticFpnHead;
import dev.saccade.heads.segmentation.UperNetHead;
import dev.saccade.models.ModelConfig;
import dev.saccade.models.SegmentationModel;
import dev.saccade.models.segmentation.SlidingWindow;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** mmsegmentation's {@code EncoderDecoder} settings. */
final class SegmenterSettings {

    private final Settings model;
    private final int levels;

    private SegmenterSettings(Settings model) {
        this.model = model;
        model.onlyClass("type", "EncoderDecoder");
        model.describes("pretrained");
        model.object("train_cfg");
        this.levels = 4;
    }

    /** Returns the segmenter of a case with its recorded weights, in inference mode. */
    static SegmentationModel load(Case recorded) {
        SegmentationModel segmenter =
                new SegmenterSettings(recorded.settings().object("model")).segmenter();
        RecordedWeights.load(recorded, segmenter);
        segmenter.train(false);
        return segmenter;
    }

    private SegmentationModel segmenter() {
        Settings backbone = model.object("backbone");
        Settings decode = model.object("decode_head");
        int numClasses = decode.integer("num_classes");
        SegmentationModel segmenter =
                new SegmentationModel(
                        new ModelConfig(
                                BackboneKind.config(backbone.text("type"), backbone),
                                neck(),
                                head(decode),
                                auxiliary(numClasses),
                                window(model.object("test_cfg"))),
                        IntStream.range(0, numClasses).mapToObj(i -> "class " + i).toList());
        if (segmenter.neck().isPresent()) {
            model.object("neck").only("in_channels", channels(segmenter.backbone().features()));
        }
        checkFits(decode, segmenter.levels());
        if (segmenter.auxiliaryHead().isPresent()) {
            checkFits(model.object("auxiliary_head"), segmenter.levels());
        }
        return segmenter;
    }

    private Optional<Neck.Config> neck() {
        if (!model.has("neck")) {
            return Optional.empty();
        }
        Settings neck = model.object("neck");
        neck.only("extra_convs_on_inputs", false);
        return Optional.of(NeckKind.config(neck.text("type"), neck));
    }

    private Optional<HeadConfig> auxiliary(int numClasses) {
        if (!model.has("auxiliary_head")) {
            return Optional.empty();
        }
        if (model.objects("auxiliary_head").size() > 1) {
            throw model.refused("auxiliary_head", "expected at most one");
        }
        Settings head = model.object("auxiliary_head");
        head.only("num_classes", numClasses);
        return Optional.of(head(head));
    }

    private static List<Integer> channels(List<FeatureInfo> features) {
        return features.stream().map(FeatureInfo::channels).toList();
    }

    /** Skips the case unless a head matches the channels and strides of its input. */
    private void checkFits(Settings head, List<FeatureInfo> features) {
        if (head.json("in_index").isArray()) {
            List<FeatureInfo> taken = inIndexes(head).stream().map(features::get).toList();
            head.only("in_channels", channels(taken));
            head.only("feature_strides", taken.stream().map(FeatureInfo::stride).toList());
        } else {
            head.only("in_channels", features.get(inIndex(head)).channels());
        }
    }

    private List<Integer> inIndexes(Settings head) {
        return head.integers("in_index").stream().map(i -> Math.floorMod(i, levels)).toList();
    }

    /** Returns the input level of a head; negative values count from the coarsest. */
    private int inIndex(Settings head) {
        return Math.floorMod(head.integer("in_index"), levels);
    }

    private SegmentationHead.Config head(Settings head) {
        head.only("conv_cfg", null);
        head.only("sampler", null);
        head.only("ignore_index", 255);
        head.objectOrEmpty("act_cfg").onlyClass("type", "ReLU");
        String type = head.text("type");
        return switch (type) {
            case "UPerHead" -> uperNet(head);
            case "FPNHead" -> semanticFpn(head);
            case "FCNHead" -> fcn(head);
            default -> throw head.unbuilt("type");
        };
    }

    private UperNetHead.Config uperNet(Settings head) {
        head.only("input_transform", "multiple_select");
        return Configs.of(
                UperNetHead.Config.class,
                Map.of(
                        "in_index",
                        inIndexes(head),
                        "pool_scales",
                        head.integers("pool_scales", List.of(1, 2, 3, 6)),
                        "channels",
                        head.integer("channels"),
                        "dropout_ratio",
                        head.number("dropout_ratio", 0.1),
                        "norm",
                        norm(head),
                        "align_corners",
                        head.flag("align_corners", false),
                        "loss_decode",
                        loss(head)));
    }

    private SemanticFpnHead.Config semanticFpn(Settings head) {
        head.only("input_transform", "multiple_select");
        return new SemanticFpnHead.Config(
                inIndexes(head),
                head.integer("channels"),
                head.number("dropout_ratio", 0.1),
                norm(head),
                head.flag("align_corners", false),
                loss(head));
    }

    private FcnHead.Config fcn(Settings head) {
        head.only("input_transform", null);
        head.only("dilation", 1);
        return Configs.of(
                FcnHead.Config.class,
                Map.of(
                        "in_index",
                        inIndex(head),
                        "channels",
                        head.integer("channels"),
                        "num_convs",
                        head.integer("num_convs", 2),
                        "kernel_size",
                        head.integer("kernel_size", 3),
                        "concat_input",
                        head.flag("concat_input", true),
                        "dropout_ratio",
                        head.number("dropout_ratio", 0.1),
                        "norm",
                        norm(head),
                        "align_corners",
                        head.flag("align_corners", false),
                        "loss_decode",
                        loss(head)));
    }

    private static Norm norm(Settings head) {
        if (!head.has("norm_cfg")) {
            return Norm.NONE;
        }
        Settings norm = head.object("norm_cfg");
        norm.only("requires_grad", true);
        norm.only("eps", 1e-5);
        norm.only("momentum", 0.1);
        String type = norm.text("type");
        return switch (type) {
            case "BN" -> Norm.BN;
            case "SyncBN" -> Norm.SYNC_BN;
            default -> throw norm.unbuilt("type");
        };
    }

    private static PixelCrossEntropy loss(Settings head) {
        Settings loss = head.objectOrEmpty("loss_decode");
        loss.onlyClass("type", "CrossEntropyLoss");
        loss.only("use_sigmoid", false);
        loss.only("use_mask", false);
        loss.only("reduction", "mean");
        loss.only("loss_name", "loss_seg");
        return new PixelCrossEntropy(
                loss.number("loss_weight", 1),
                loss.has("class_weight") ? loss.numbers("class_weight") : List.of(),
                loss.flag("avg_non_ignore", false));
    }

    private static Optional<SlidingWindow> window(Settings test) {
        String mode = test.text("mode");
        return switch (mode) {
            case "whole" -> Optional.empty();
            case "slide" ->
                    Optional.of(
                            new SlidingWindow(test.integers("crop_size"), test.integers("stride")));
            default -> throw test.refused("mode", "expected whole or slide");
        };
    }
}

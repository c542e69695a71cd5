package dev.saccade.examples.parts;

import ai.djl.ndarray.NDArray;
import ai.djl.nn.Activation;

import dev.saccade.core.Checks;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.DetectionHead;
import dev.saccade.core.parts.FeatureInfo;
import dev.saccade.core.parts.Part;
import dev.saccade.heads.anchor.AnchorGenerator;
import dev.saccade.heads.anchor.AnchorHead;
import dev.saccade.heads.anchor.AnchorTargets;
import dev.saccade.heads.anchor.LevelMaps;
import dev.saccade.heads.box.Assigner;
import dev.saccade.heads.box.BoxCoder;
import dev.saccade.heads.box.Detections;
import dev.saccade.heads.box.MulticlassNms;
import dev.saccade.heads.box.Sampler;
import dev.saccade.heads.box.ScoredBoxes;
import dev.saccade.heads.loss.BoxLoss;
import dev.saccade.heads.loss.ClassificationLoss;

import java.util.List;
import java.util.Map;

/** A dense head with a branch of its own, in the manner of ATSS (Zhang et al. 2020). */
public final class CenternessHead extends AnchorHead {

    /** One square anchor a cell; an assigner that looks at levels; GIoU of decoded boxes. */
    @Part("centerness")
    public record Config(
            @Default("{type: focal}") ClassificationLoss lossCls,
            @Default("{type: giou, loss_weight: 2}") BoxLoss lossBbox,
            @Default("{type: delta_xywh}") BoxCoder bboxCoder,
            @Default("{type: nearest}") Assigner assigner,
            @Default("{type: pseudo}") Sampler sampler,
            @Default("1000") int nmsPre,
            @Default("{type: nms, score_thr: 0, iou_thr: 0.6}") MulticlassNms nms)
            implements DetectionHead.Config, AnchorHead.Config {

        public Config {
            new Checks().within("nms_pre", nmsPre, 1, 1_000_000).throwIfAny();
        }

        @Override
        public AnchorGenerator anchorGenerator(List<Integer> strides) {
            return new AnchorGenerator(List.of(8.0), List.of(1.0), 0.5, strides);
        }

        @Override
        public boolean regDecodedBbox() {
            return true;
        }

        @Override
        public DetectionHead build(List<FeatureInfo> features, int numClasses) {
            return new CenternessHead(this, features, numClasses);
        }
    }

    private static final Script LOSS =
            Script.compile(
                    "(logits: Tensor, targets: Tensor, weights: Tensor) -> Tensor",
                    "return torch.binary_cross_entropy_with_logits(logits, targets, weights, None,"
                            + " 2)");

    private static final Script CENTERNESS =
            Script.compile(
                    "(anchors: Tensor, boxes: Tensor, weights: Tensor) -> Tensor",
                    """
                    a = torch.unbind(anchors, 1)
                    b = torch.unbind(boxes, 1)
                    x = torch.div(torch.add(a[0], a[2]), 2.)
                    y = torch.div(torch.add(a[1], a[3]), 2.)
                    left = torch.sub(x, b[0])
                    right = torch.sub(b[2], x)
                    top = torch.sub(y, b[1])
                    bottom = torch.sub(b[3], y)
                    across = torch.div(torch.minimum(left, right), torch.maximum(left, right))
                    down = torch.div(torch.minimum(top, bottom), torch.maximum(top, bottom))
                    share = torch.mul(torch.clamp(across, 0), torch.clamp(down, 0))
                    return torch.mul(torch.sqrt(share), weights)
                    """);

    private static final Script AT_LEAST_ONE =
            Script.compile("(x: Tensor) -> Tensor", "return torch.clamp(x, 1)");

    private final Config config;
    private final Conv2d cls;
    private final Conv2d reg;
    private final Conv2d centerness;

    private CenternessHead(Config config, List<FeatureInfo> features, int numClasses) {
        super(config, features, numClasses);
        this.config = config;
        int in = features.get(0).channels();
        cls = add("bbox_head.atss_cls", conv(in, clsOutChannels()));
        reg = add("bbox_head.atss_reg", conv(in, 4));
        centerness = add("bbox_head.atss_centerness", conv(in, 1));
    }

    private static Conv2d conv(int in, int out) {
        return new Conv2d(new Geometry(in, out, 3).padding(1), WeightInit.normal(0.01));
    }

    @Override
    protected LevelMaps forward(NDArray map, int level) {
        List<NDArray> others = List.of(centerness.apply(map));
        return new LevelMaps(cls.apply(map), reg.apply(map), others);
    }

    @Override
    protected Map<String, NDArray> levelLosses(LevelMaps maps, AnchorTargets.Level targets) {
        NDArray centered = centerness(targets);
        NDArray logits = LevelMaps.perAnchor(maps.others().get(0), 1, targets.positives());
        NDArray weights = targets.positives().weights();
        return Map.of(
                "loss_cls", clsLoss(maps, targets),
                "loss_bbox", bboxLoss(maps, targets, centered),
                "loss_centerness", LOSS.run(logits.squeeze(1), centered, weights));
    }

    /** Boxes weigh as much as their anchors are in the middle. */
    @Override
    public NDArray avgFactor(String term, AnchorTargets targets) {
        if (!term.equals("loss_bbox")) {
            return targets.avgFactor();
        }
        return AT_LEAST_ONE.run(
                targets.levels().stream()
                        .map(level -> centerness(level).sum())
                        .reduce(NDArray::add)
                        .orElseThrow());
    }

    /** Returns how much each positive anchor is in the middle, 0 for a filler. */
    private static NDArray centerness(AnchorTargets.Level targets) {
        return CENTERNESS.run(targets.anchors(), targets.boxes(), targets.positives().weights());
    }

    @Override
    protected NDArray scores(LevelMaps maps) {
        NDArray logits = LevelMaps.perAnchor(maps.others().get(0), 1);
        return super.scores(maps).mul(Activation.sigmoid(logits));
    }

    @Override
    protected Detections bboxPostProcess(List<ScoredBoxes> candidates) {
        return config.nms().apply(ScoredBoxes.concat(candidates)).detections();
    }
}

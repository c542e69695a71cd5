package dev.saccade.heads.anchor;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.heads.box.Detections;
import dev.saccade.heads.box.GtInstances;
import dev.saccade.heads.loss.CenternessLoss;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * ATSS head (Zhang et al. 2020) as in mmdetection 3.3: RetinaNet's head with group normalization, a
 * trained scale per level, and a centerness branch that weights the box loss and multiplies the
 * scores.
 */
public final class AtssHead extends DenseHead {

    /**
     * Settings of an ATSS head.
     *
     * @param settings {@code nms_pre} counts (anchor, class) pairs; {@code nms} ranks by class
     *     score times centerness
     * @param minBboxSize drops boxes with a side of at most this many pixels; negative: drops none
     * @param scoreThr minimum class score without centerness, exclusive
     */
    @Component("atss")
    public record Config(
            @Unwrapped
                    @Default(
                            "{norm_groups: 32, octave_base_scale: 8, scales_per_octave: 1,"
                                    + " ratios: [1.0], loss_bbox: {type: giou, loss_weight: 2},"
                                    + " reg_decoded_bbox: true,"
                                    + " bbox_coder: {type: delta_xywh, target_stds: [0.1, 0.1, 0.2, 0.2]},"
                                    + " assigner: {type: atss},"
                                    + " nms: {type: nms, score_thr: 0, iou_threshold: 0.6}}")
                    DenseHead.Settings settings,
            CenternessLoss lossCenterness,
            @Default("0") double minBboxSize,
            @Default("0.05") double scoreThr)
            implements DenseHead.Config {

        public Config {
            new Checks()
                    .below("score_thr", scoreThr, 0, 1)
                    .inRange("min_bbox_size", minBboxSize, -1, 1e6)
                    .throwIfAny();
        }

        @Override
        public AtssHead build(List<FeatureInfo> features, int numClasses) {
            return new AtssHead(this, features, numClasses);
        }
    }

    private static final class Scale extends Layer {

        private final Parameter scale = parameter("scale", new Shape(), WeightInit.ONES);

        @Override
        protected NDArray forward(NDArray x) {
            return Functional.mul(x, scale.getArray());
        }
    }

    private static final Script CENTERED =
            Script.compile(
                    "(scores: Tensor, centerness: Tensor, rows: Tensor, anchors: Tensor) -> Tensor",
                    """
                    factor = torch.reshape(centerness, [-1, torch.size(anchors, 0)])
                    factor = torch.gather(torch.sigmoid(factor), 1, rows)
                    return torch.mul(scores, torch.unsqueeze(factor, 2))
                    """);

    private final Config config;
    private final Conv2d centerness;
    private final List<Scale> scales = new ArrayList<>();

    public AtssHead(Config config, List<FeatureInfo> features, int numClasses) {
        super("atss", config.settings(), features, numClasses);
        this.config = config;
        centerness = add("bbox_head.atss_centerness", predictor(1));
        for (int l = 0; l < features.size(); l++) {
            scales.add(add("bbox_head.scales." + l, new Scale()));
        }
    }

    @Override
    protected NDList forward(NDArray clsFeatures, NDArray regFeatures, int level) {
        NDList maps = super.forward(clsFeatures, regFeatures, level);
        NDArray deltas = scales.get(level).apply(maps.get(1));
        return new NDList(maps.get(0), deltas, centerness.apply(regFeatures));
    }

    @Override
    protected Map<String, NDArray> levelLosses(NDList maps, AnchorTargets.Level targets) {
        NDArray weights = targets.positives().weights();
        NDArray logits = rows(maps.get(2), 1, targets.positives()).flatten();
        NDArray centered = CenternessLoss.targets(targets.anchors(), targets.boxes());
        return ImmutableMap.of(
                "loss_cls",
                clsLoss(maps, targets),
                "loss_bbox",
                bboxLoss(maps, targets, centered.mul(weights)),
                "loss_centerness",
                config.lossCenterness().sum(logits, centered, weights));
    }

    /** Returns true in training mode, because loss divisors are averaged over all ranks. */
    @Override
    public boolean synchronizes() {
        return isTraining();
    }

    /** Assigns objects to anchors, and averages the divisor of the losses over the ranks. */
    @Override
    public AnchorTargets targets(
            AnchorGrid grid, List<ImageInfo> images, List<GtInstances> objects) {
        AnchorTargets own = super.targets(grid, images, objects);
        NDArray mean = ProcessGroup.current().mean(own.avgFactor());
        return new AnchorTargets(own.levels(), own.avgFactors(), mean);
    }

    /**
     * {@inheritDoc} The divisor of {@code loss_bbox} is the sum of the centerness targets, averaged
     * over the ranks, and at least 1.
     */
    @Override
    public NDArray avgFactor(String term, AnchorTargets targets) {
        if (!term.equals("loss_bbox")) {
            return targets.avgFactor();
        }
        NDList centered = new NDList();
        for (AnchorTargets.Level level : targets.levels()) {
            NDArray each = CenternessLoss.targets(level.anchors(), level.boxes());
            centered.add(each.mul(level.positives().weights()));
        }
        NDArray sum = Tensors.concat(centered, 0).sum();
        return Functional.clamp(ProcessGroup.current().mean(sum), 1);
    }

    /**
     * Returns the {@code nmsPre} (anchor, class) pairs of a level with the highest class scores.
     * The score of a pair is its class score times centerness, or 0 if the class score is at most
     * {@code score_thr}.
     */
    @Override
    protected NDList top(NDList maps, NDArray anchors, int nmsPre) {
        NDList top =
                TopAnchors.pairsOfLevel(
                        scores(maps), rows(maps.get(1), 4), anchors, nmsPre, config.scoreThr());
        NDArray centered = CENTERED.run(top.get(0), rows(maps.get(2), 1), top.get(3), anchors);
        return new NDList(centered, top.get(1), top.get(2));
    }

    @Override
    protected Detections select(Candidates candidates) {
        return super.select(candidates.suppressSmall(config.minBboxSize()));
    }
}

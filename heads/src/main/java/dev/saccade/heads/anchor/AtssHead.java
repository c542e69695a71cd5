package dev.saccade.heads.anchor;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Checks;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.ClassRows;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.script.Tracer;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.DetectionHead;
import dev.saccade.core.parts.FeatureInfo;
import dev.saccade.core.parts.Part;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.heads.box.Assigner;
import dev.saccade.heads.box.BoxCoder;
import dev.saccade.heads.box.BoxRegression;
import dev.saccade.heads.box.Detections;
import dev.saccade.heads.box.GtInstances;
import dev.saccade.heads.box.MulticlassNms;
import dev.saccade.heads.box.Sampler;
import dev.saccade.heads.box.ScoredBoxes;
import dev.saccade.heads.loss.BoxLoss;
import dev.saccade.heads.loss.CenternessLoss;
import dev.saccade.heads.loss.ClassificationLoss;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The head of ATSS (Zhang et al. 2020) as in mmdetection 3.3: RetinaNet's with group normalization,
 * a learned scale of the bbox deltas of each level, and a branch that says how far in the middle of
 * its object an anchor is.
 *
 * <p>This centerness weighs the loss of the boxes, which is divided by the sum of these weights,
 * and multiplies the scores.
 */
public final class AtssHead extends AnchorHead {

    /**
     * The hyper-parameters of an ATSS head.
     *
     * @param featChannels width of the stacked convolutions
     * @param stackedConvs how many convolutions are stacked in each branch; 0 behind DyHead
     * @param normGroups groups of channels of the normalization behind each of them; 0 for none
     * @param predKernelSize kernel of the convolutions that predict, odd
     * @param octaveBaseScale size of the smallest anchor in strides
     * @param scalesPerOctave number of anchor sizes
     * @param ratios height over width of the anchors
     * @param scaleMajor whether all scales of a ratio are consecutive, otherwise all ratios of a
     *     scale
     * @param centerOffset where in its cell an anchor is centered, in strides from the top-left
     *     corner; 0 in most of mmdetection's recipes, 0.5 for the middle
     * @param lossCls the loss of the classes
     * @param lossBbox the loss of the boxes
     * @param lossCenterness the loss of the centerness
     * @param regDecodedBbox whether the loss of the boxes looks at boxes rather than at bbox deltas
     * @param bboxCoder what encodes boxes as bbox deltas
     * @param assigner which anchor learns what
     * @param sampler which anchors are trained
     * @param allowedBorder anchors that reach further out of the image are not trained; negative
     *     for no such limit
     * @param nmsPre so many pairs of an anchor and a class, those of the highest scores of a level,
     *     are looked at
     * @param minBboxSize boxes not wider and higher than this many pixels go; negative: none
     * @param scoreThr the score of a class alone must be strictly greater
     * @param nms how objects are selected by the score of a class times the centerness
     */
    @Part("atss")
    public record Config(
            @Default("256") int featChannels,
            @Default("4") int stackedConvs,
            @Default("32") int normGroups,
            @Default("3") int predKernelSize,
            @Default("8") double octaveBaseScale,
            @Default("1") int scalesPerOctave,
            @Default("[1.0]") List<Double> ratios,
            @Default("true") boolean scaleMajor,
            @Default("0") double centerOffset,
            @Default("{type: focal}") ClassificationLoss lossCls,
            @Default("{type: giou, loss_weight: 2}") BoxLoss lossBbox,
            CenternessLoss lossCenterness,
            @Default("true") boolean regDecodedBbox,
            @Default("{type: delta_xywh, stds: [0.1, 0.1, 0.2, 0.2]}") BoxCoder bboxCoder,
            @Default("{type: atss}") Assigner assigner,
            @Default("{type: pseudo}") Sampler sampler,
            @Default("-1") double allowedBorder,
            @Default("1000") int nmsPre,
            @Default("0") double minBboxSize,
            @Default("0.05") double scoreThr,
            @Default("{type: nms, score_thr: 0, iou_thr: 0.6}") MulticlassNms nms)
            implements DetectionHead.Config, AnchorHead.Config {

        /** Checks the values. */
        public Config {
            ratios = ImmutableList.copyOf(ratios);
            new Checks()
                    .within("feat_channels", featChannels, 1, 8192)
                    .within("stacked_convs", stackedConvs, 0, 100)
                    .within("norm_groups", normGroups, 0, 8192)
                    .within("pred_kernel_size", predKernelSize, 1, 31)
                    .within("octave_base_scale", octaveBaseScale, 0.001, 1000)
                    .within("scales_per_octave", scalesPerOctave, 1, 100)
                    .size("ratios", ratios, 1, 100)
                    .each("ratios", ratios, 0.001, 1000)
                    .within("center_offset", centerOffset, 0, 1)
                    .within("allowed_border", allowedBorder, -1, 1e6)
                    .within("nms_pre", nmsPre, 1, 100_000_000)
                    .below("score_thr", scoreThr, 0, 1)
                    .within("min_bbox_size", minBboxSize, -1, 1e6)
                    .throwIfAny();
            Checks.require(predKernelSize % 2 == 1, "pred_kernel_size", predKernelSize, "odd");
            Checks.require(
                    stackedConvs == 0 || normGroups == 0 || featChannels % normGroups == 0,
                    "norm_groups",
                    normGroups,
                    "a divisor of feat_channels %s, or 0 for no normalization",
                    featChannels);
            AnchorGenerator.check("ratios", scalesPerOctave, ratios.size());
            BoxRegression.check(lossBbox, regDecodedBbox);
        }

        @Override
        public CheckpointRules checkpointRules() {
            return CheckpointRules.NONE.withClassRows(
                    new ClassRows("bbox_head.atss_cls.{*}", ClassRows.Order.BY_ANCHOR));
        }

        @Override
        public Map<String, Integer> objectLimits() {
            return ImmutableMap.of(MAX_PER_IMG, nms.maxPerImg(), "nms_pre", nmsPre);
        }

        @Override
        public AnchorGenerator anchorGenerator(List<Integer> strides) {
            List<Double> scales = AnchorGenerator.octaveScales(octaveBaseScale, scalesPerOctave);
            return new AnchorGenerator(scales, ratios, scaleMajor, centerOffset, strides);
        }

        @Override
        public AtssHead build(List<FeatureInfo> features, int numClasses) {
            return new AtssHead(this, features, numClasses);
        }
    }

    /** A factor that is learned, 1 at first. */
    private static final class Scale extends Layer {

        private final Parameter scale = parameter("scale", new Shape(), WeightInit.ONES);

        @Override
        protected NDArray forward(NDArray x) {
            return Functional.mul(x, scale.getArray());
        }
    }

    /** Probability that an untrained head gives to an object. */
    private static final double PRIOR = 0.01;

    /**
     * Pairs of an anchor and a class whose probability exceeds the threshold, a row of scores for
     * each with 0 for all other classes; of too few, pairs of score 0 as well.
     */
    private static final ScriptTemplate TOP =
            ScriptTemplate.of(
                    "(scores: Tensor, centerness: Tensor, deltas: Tensor, anchors: Tensor)"
                            + " -> Tuple[Tensor, Tensor, Tensor]",
                    """
                    n = torch.size(anchors, 0)
                    c = torch.size(scores, 1)
                    above = torch.where(torch.gt(scores, {score_thr}), scores, 0.)
                    pairs = torch.reshape(above, [-1, n * c])
                    count = {nms_pre}
                    if {padded}:
                      pairs = torch.constant_pad_nd(pairs, [0, count], -1.)
                    elif count > n * c:
                      count = n * c
                    best, pair = torch.topk(pairs, count, 1, True, True)
                    pair = torch.clamp(pair, 0, n * c - 1)
                    row = torch.floor_divide(pair, c)
                    factor = torch.sigmoid(torch.reshape(centerness, [-1, n]))
                    score = torch.unsqueeze(torch.mul(best, torch.gather(factor, 1, row)), 2)
                    classes = torch.arange(c, dtype=4, device=scores.device)
                    label = torch.unsqueeze(torch.remainder(pair, c), 2)
                    score = torch.where(torch.eq(label, classes), score, 0.)
                    column = torch.expand(torch.unsqueeze(row, 2), [-1, -1, 4])
                    delta = torch.gather(torch.reshape(deltas, [-1, n, 4]), 1, column)
                    anchor = torch.index_select(anchors, 0, torch.reshape(row, [-1]))
                    return (score, delta, torch.reshape(anchor, torch.size(delta)))
                    """);

    /** Scores of 0 for boxes that are too small. */
    private static final ScriptTemplate OF_LARGE =
            ScriptTemplate.of(
                    "(boxes: Tensor, scores: Tensor) -> Tensor",
                    """
                    b = torch.unbind(boxes, 2)
                    wide = torch.gt(torch.sub(b[2], b[0]), {least})
                    high = torch.gt(torch.sub(b[3], b[1]), {least})
                    large = torch.unsqueeze(torch.logical_and(wide, high), 2)
                    return torch.where(large, scores, 0.)
                    """);

    private static final Script SUM =
            Script.compile(
                    "(centerness: List[Tensor]) -> Tensor",
                    "return torch.sum(torch.cat(centerness))");

    private static final Script AT_LEAST_ONE =
            Script.compile("(x: Tensor) -> Tensor", "return torch.clamp(x, 1)");

    private final Config config;
    private final List<ConvModule> clsConvs = new ArrayList<>();
    private final List<ConvModule> regConvs = new ArrayList<>();
    private final Conv2d cls;
    private final Conv2d reg;
    private final Conv2d centerness;
    private final List<Scale> scales = new ArrayList<>();

    /** Makes a head without weights. */
    public AtssHead(Config config, List<FeatureInfo> features, int numClasses) {
        super(config, features, numClasses);
        this.config = config;
        int in = features.get(0).channels();
        for (int i = 0; i < config.stackedConvs(); i++) {
            clsConvs.add(add("bbox_head.cls_convs." + i, conv(in)));
            regConvs.add(add("bbox_head.reg_convs." + i, conv(in)));
            in = config.featChannels();
        }
        int anchors = anchorsPerCell();
        WeightInit prior = WeightInit.constant((float) -Math.log((1 - PRIOR) / PRIOR));
        cls = add("bbox_head.atss_cls", last(in, anchors * clsOutChannels(), prior));
        reg = add("bbox_head.atss_reg", last(in, anchors * 4, WeightInit.ZEROS));
        centerness = add("bbox_head.atss_centerness", last(in, anchors, WeightInit.ZEROS));
        for (int l = 0; l < features.size(); l++) {
            scales.add(add("bbox_head.scales." + l, new Scale()));
        }
    }

    private ConvModule conv(int in) {
        Geometry geometry = new Geometry(in, config.featChannels(), 3).padding(1);
        WeightInit init = WeightInit.normal(0.01);
        return config.normGroups() == 0
                ? ConvModule.relu(geometry, init)
                : ConvModule.groupNormRelu(geometry, config.normGroups(), init);
    }

    private Conv2d last(int in, int out, WeightInit bias) {
        int kernel = config.predKernelSize();
        Geometry geometry = new Geometry(in, out, kernel).padding(kernel / 2);
        return new Conv2d(geometry, WeightInit.normal(0.01), bias);
    }

    @Override
    protected LevelMaps forward(NDArray map, int level) {
        NDArray found = stacked(clsConvs, map);
        NDArray placed = stacked(regConvs, map);
        return new LevelMaps(
                cls.apply(found),
                scales.get(level).apply(reg.apply(placed)),
                List.of(centerness.apply(placed)));
    }

    /** Returns {@code loss_cls}, {@code loss_bbox} and {@code loss_centerness}. */
    @Override
    protected Map<String, NDArray> levelLosses(LevelMaps maps, AnchorTargets.Level targets) {
        NDArray weights = targets.positives().weights();
        NDArray logits = LevelMaps.perAnchor(maps.others().get(0), 1, targets.positives());
        NDArray centered = CenternessLoss.targets(targets.anchors(), targets.boxes());
        return ImmutableMap.of(
                "loss_cls",
                clsLoss(maps, targets),
                "loss_bbox",
                bboxLoss(maps, targets, Functional.mul(centered, weights)),
                "loss_centerness",
                config.lossCenterness().sum(logits.flatten(), centered, weights));
    }

    /** Returns true in training mode, as ranks divide by means over all of them. */
    @Override
    public boolean synchronizes() {
        return isTraining();
    }

    /** {@inheritDoc} What losses are divided by is the mean over the ranks. */
    @Override
    public AnchorTargets targets(
            AnchorGrid grid, List<ImageInfo> images, List<GtInstances> objects) {
        AnchorTargets own = super.targets(grid, images, objects);
        return new AnchorTargets(own.levels(), ProcessGroup.current().mean(own.avgFactor()));
    }

    /**
     * {@inheritDoc} Of the boxes it is the sum of their centerness, at least 1, as a mean over the
     * ranks.
     */
    @Override
    public NDArray avgFactor(String term, AnchorTargets targets) {
        return term.equals("loss_bbox")
                ? AT_LEAST_ONE.run(ProcessGroup.current().mean(totalCenterness(targets)))
                : targets.avgFactor();
    }

    private static NDArray totalCenterness(AnchorTargets targets) {
        List<NDArray> levels =
                targets.levels().stream()
                        .map(
                                level ->
                                        Functional.mul(
                                                CenternessLoss.targets(
                                                        level.anchors(), level.boxes()),
                                                level.positives().weights()))
                        .toList();
        return SUM.runLists(List.of(levels)).singletonOrThrow();
    }

    /**
     * {@inheritDoc}
     *
     * <p>Each row is of one class, as the best pairs of an anchor and a class are chosen; the score
     * is that of the class times the centerness, or 0 where that of the class alone does not exceed
     * the threshold.
     */
    @Override
    protected NDList top(LevelMaps maps, NDArray anchors, int nmsPre) {
        return TOP.with(
                        Map.of(
                                "nms_pre",
                                nmsPre,
                                "padded",
                                Tracer.isRecording(),
                                "score_thr",
                                (double) (float) config.scoreThr()))
                .runAll(
                        scores(maps),
                        LevelMaps.perAnchor(maps.others().get(0), 1),
                        LevelMaps.perAnchor(maps.reg(), 4),
                        anchors);
    }

    @Override
    protected Detections bboxPostProcess(List<ScoredBoxes> candidates) {
        ScoredBoxes all = ScoredBoxes.concat(candidates);
        if (config.minBboxSize() >= 0) {
            NDArray scores =
                    OF_LARGE.with(Map.of("least", (double) (float) config.minBboxSize()))
                            .run(all.boxes(), all.scores());
            all = new ScoredBoxes(all.boxes(), scores);
        }
        return config.nms().apply(all).detections();
    }
}

package dev.saccade.heads.anchor;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Checks;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.FeatureInfo;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.heads.box.Assigner;
import dev.saccade.heads.box.BoxCoder;
import dev.saccade.heads.box.BoxRegression;
import dev.saccade.heads.box.Detections;
import dev.saccade.heads.box.GtInstances;
import dev.saccade.heads.box.ImageFrames;
import dev.saccade.heads.box.Sampler;
import dev.saccade.heads.box.ScoredBoxes;
import dev.saccade.heads.loss.BoxLoss;
import dev.saccade.heads.loss.ClassificationLoss;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The region proposal network of Faster R-CNN (Ren et al. 2015) on a pyramid, as in mmdetection:
 * says of every anchor whether it shows an object, of whatever class, and regresses it to that.
 */
public final class RpnHead extends AnchorHead {

    /**
     * The hyper-parameters of a region proposal network.
     *
     * @param featChannels width of its hidden layer
     * @param scales anchor sizes in strides
     * @param ratios height over width of the anchors
     * @param scaleMajor whether all scales of a ratio are consecutive, otherwise all ratios of a
     *     scale
     * @param centerOffset where in its cell an anchor is centered, in strides from the top-left
     *     corner; 0 in mmdetection's recipes, 0.5 for the middle
     * @param bboxCoder what encodes boxes as bbox deltas
     * @param lossCls the loss of the scores
     * @param lossBbox the loss of the boxes
     * @param regDecodedBbox whether that loss looks at boxes rather than at bbox deltas
     * @param assigner which anchor learns what
     * @param sampler how many anchors are trained
     * @param allowedBorder anchors that reach further out of the image are not trained; negative
     *     for no such limit
     * @param trainProposals what the second stage is trained on
     * @param testProposals what the second stage sees in inference
     */
    public record Config(
            @Default("256") int featChannels,
            @Default("[8.0]") List<Double> scales,
            @Default("[0.5, 1.0, 2.0]") List<Double> ratios,
            @Default("true") boolean scaleMajor,
            @Default("0") double centerOffset,
            @Default("{type: delta_xywh}") BoxCoder bboxCoder,
            @Default("{type: cross_entropy, use_sigmoid: true}") ClassificationLoss lossCls,
            @Default("{type: l1}") BoxLoss lossBbox,
            @Default("false") boolean regDecodedBbox,
            @Default("{type: max_iou, pos_iou_thr: 0.7, neg_iou_thr: 0.3, min_pos_iou: 0.3}")
                    Assigner assigner,
            @Default("{type: random, num: 256, pos_fraction: 0.5, add_gt_as_proposals: false}")
                    Sampler sampler,
            @Default("-1") double allowedBorder,
            @Default("{nms_pre: 2000}") ProposalConfig trainProposals,
            ProposalConfig testProposals)
            implements AnchorHead.Config {

        /** Checks the values. */
        public Config {
            scales = ImmutableList.copyOf(scales);
            ratios = ImmutableList.copyOf(ratios);
            new Checks()
                    .within("feat_channels", featChannels, 1, 8192)
                    .size("scales", scales, 1, 100)
                    .each("scales", scales, 0.001, 1000)
                    .size("ratios", ratios, 1, 100)
                    .each("ratios", ratios, 0.001, 1000)
                    .within("center_offset", centerOffset, 0, 1)
                    .within("allowed_border", allowedBorder, -1, 1e6)
                    .throwIfAny();
            AnchorGenerator.check("ratios", scales.size(), ratios.size());
            BoxRegression.check(lossBbox, regDecodedBbox);
        }

        @Override
        public AnchorGenerator anchorGenerator(List<Integer> strides) {
            return new AnchorGenerator(scales, ratios, scaleMajor, centerOffset, strides);
        }

        @Override
        public int nmsPre() {
            return testProposals.nmsPre();
        }
    }

    private final Config config;
    private final Conv2d conv;
    private final Conv2d cls;
    private final Conv2d reg;

    /** Makes a network without weights. */
    public RpnHead(Config config, List<FeatureInfo> features) {
        super(config, features, 1);
        this.config = config;
        WeightInit init = WeightInit.normal(0.01);
        int width = config.featChannels();
        int anchors = anchorsPerCell();
        conv =
                add(
                        "rpn_conv",
                        new Conv2d(
                                new Geometry(features.get(0).channels(), width, 3).padding(1),
                                init));
        cls = add("rpn_cls", new Conv2d(new Geometry(width, anchors * clsOutChannels(), 1), init));
        reg = add("rpn_reg", new Conv2d(new Geometry(width, anchors * 4, 1), init));
    }

    @Override
    protected LevelMaps forward(NDArray map, int level) {
        NDArray hidden = Functional.reluInPlace(conv.apply(map));
        return new LevelMaps(cls.apply(hidden), reg.apply(hidden));
    }

    /** {@inheritDoc} All objects are alike. */
    @Override
    public AnchorTargets targets(
            AnchorGrid grid, List<ImageInfo> images, List<GtInstances> objects) {
        return super.targets(grid, images, objects.stream().map(GtInstances::alike).toList());
    }

    /** Returns {@code loss_rpn_cls} and {@code loss_rpn_bbox}. */
    @Override
    protected Map<String, NDArray> levelLosses(LevelMaps maps, AnchorTargets.Level targets) {
        Map<String, NDArray> losses = super.levelLosses(maps, targets);
        return ImmutableMap.of(
                "loss_rpn_cls", losses.get("loss_cls"), "loss_rpn_bbox", losses.get("loss_bbox"));
    }

    @Override
    protected Detections bboxPostProcess(List<ScoredBoxes> candidates) {
        return config.testProposals().select(candidates);
    }

    /**
     * Returns the proposals of each image for training, best first, in the coordinates of the
     * network input; no gradient flows through them.
     */
    public Detections trainProposals(List<LevelMaps> maps, List<ImageInfo> images) {
        return proposals(maps, images, config.trainProposals());
    }

    /**
     * Returns the proposals of each image for inference, best first, in the coordinates of the
     * network input.
     */
    public Detections propose(FeaturePyramid features, List<ImageInfo> images) {
        return inScope(() -> proposals(forward(features), images, config.testProposals()));
    }

    /** Returns the same of images whose frames are known. */
    public Detections propose(FeaturePyramid features, ImageFrames frames) {
        return inScope(() -> proposals(forward(features), frames, config.testProposals()));
    }

    private Detections proposals(
            List<LevelMaps> maps, List<ImageInfo> images, ProposalConfig settings) {
        return inScope(() -> proposals(maps, frames(maps, images), settings));
    }

    private Detections proposals(
            List<LevelMaps> maps, ImageFrames frames, ProposalConfig settings) {
        return settings.select(candidates(maps, frames, settings.nmsPre()));
    }

    /** Returns the proposals of all views of an image, in its coordinates, best first. */
    public Detections proposeViews(List<FeaturePyramid> views, List<ImageInfo> images) {
        return inScope(
                () -> {
                    List<ScoredBoxes> proposals = new ArrayList<>();
                    for (int v = 0; v < views.size(); v++) {
                        List<ImageInfo> image = List.of(images.get(v));
                        ScoredBoxes each = propose(views.get(v), image).scored();
                        NDManager manager = each.boxes().getManager();
                        ImageFrames frames = ImageFrames.of(manager, image);
                        proposals.add(each.mapBoxes(frames::toOriginal));
                    }
                    List<ScoredBoxes> level = List.of(ScoredBoxes.concat(proposals));
                    return config.testProposals().ofAnySize().select(level);
                });
    }

    private static Detections inScope(Supplier<Detections> body) {
        return NoGrad.call(() -> Scope.call(body, Detections::list));
    }

    /**
     * {@inheritDoc}
     *
     * <p>As in mmdetection, the proposals of all views compete with one another, whatever their
     * level.
     */
    @Override
    public Instances predictViews(List<FeaturePyramid> views, List<ImageInfo> images) {
        return Scope.call(() -> proposeViews(views, images).toInstances().get(0));
    }
}

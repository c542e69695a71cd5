package dev.saccade.heads.anchor;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.nn.Sequential;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.heads.box.Detections;
import dev.saccade.heads.box.GtInstances;
import dev.saccade.heads.box.ImageMetas;
import dev.saccade.heads.box.ScoredBoxes;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Region proposal network (Ren et al. 2015) on a pyramid, like mmdetection's {@code RPNHead}. */
public final class RpnHead extends AnchorHead {

    /**
     * Settings of a region proposal network; {@code scales} are anchor sizes in strides.
     *
     * @param numConvs number of 3x3 convolutions
     * @param countEmpty whether an image without positives (or negatives) counts as one more anchor
     *     in the average of the losses, as in mmdetection; false averages over sampled anchors
     * @param trainProposals mmdetection's {@code train_cfg.rpn_proposal}
     * @param testProposals mmdetection's {@code test_cfg.rpn}
     */
    public record Config(
            @Unwrapped
                    @Default(
                            "{loss_cls: {type: cross_entropy, use_sigmoid: true},"
                                    + " assigner: {type: max_iou, pos_iou_thr: 0.7,"
                                    + " neg_iou_thr: 0.3, min_pos_iou: 0.3}, sampler: {type: random,"
                                    + " num: 256, pos_fraction: 0.5, add_gt_as_proposals: false}}")
                    AnchorHead.Settings anchors,
            @Default("1") int numConvs,
            @Default("[8.0]") List<Double> scales,
            @Default("true") boolean countEmpty,
            @Default("{nms_pre: 2000}") ProposalConfig trainProposals,
            ProposalConfig testProposals) {

        public Config {
            scales = ImmutableList.copyOf(scales);
            new Checks()
                    .inRange("num_convs", numConvs, 1, 100)
                    .size("scales", scales, 1, 100)
                    .each("scales", scales, 0.001, 1000)
                    .throwIfAny();
            AnchorGenerator.check("ratios", scales.size(), anchors.ratios().size());
        }
    }

    private final Config config;
    private final Sequential convs = new Sequential();
    private final Conv2d cls;
    private final Conv2d reg;

    public RpnHead(Config config, List<FeatureInfo> features) {
        super(config.anchors(), config.scales(), features, 1);
        this.config = config;
        WeightInit init = WeightInit.normal(0.01);
        int in = features.get(0).channels();
        int width = config.anchors().featChannels();
        int anchors = anchorsPerCell();
        add("rpn_conv", convs);
        for (int i = 0; i < config.numConvs(); i++) {
            Geometry geometry = new Geometry(i == 0 ? in : width, width, 3).padding(1);
            if (config.numConvs() == 1) {
                convs.append("", new Conv2d(geometry, init).asHidden())
                        .then(Functional::reluInPlace);
            } else {
                convs.append(Integer.toString(i), ConvModule.relu(geometry, init));
            }
        }
        cls = add("rpn_cls", new Conv2d(new Geometry(width, anchors * clsOutChannels(), 1), init));
        reg = add("rpn_reg", new Conv2d(new Geometry(width, anchors * 4, 1), init));
    }

    @Override
    protected NDList forward(NDArray map, int level) {
        NDArray hidden = convs.apply(map);
        return new NDList(cls.apply(hidden), reg.apply(hidden));
    }

    /** Assigns objects to anchors, with label 0 for all objects. */
    @Override
    public AnchorTargets targets(
            AnchorGrid grid, List<ImageInfo> images, List<GtInstances> objects) {
        return super.targets(
                grid, images, objects.stream().map(GtInstances::classAgnostic).toList());
    }

    @Override
    protected Map<String, NDArray> levelLosses(NDList maps, AnchorTargets.Level targets) {
        Map<String, NDArray> losses = super.levelLosses(maps, targets);
        return ImmutableMap.of(
                "loss_rpn_cls", losses.get("loss_cls"), "loss_rpn_bbox", losses.get("loss_bbox"));
    }

    @Override
    public NDArray avgFactor(String term, AnchorTargets targets) {
        return config.countEmpty() ? super.avgFactor(term, targets) : targets.trained();
    }

    @Override
    protected int nmsPre() {
        return config.testProposals().nmsPre();
    }

    @Override
    protected boolean ranksByLogits() {
        return true;
    }

    @Override
    protected Detections select(Candidates candidates) {
        return config.testProposals().select(candidates);
    }

    /** Returns training proposals without gradient, best first, in network input coordinates. */
    public Detections trainProposals(List<NDList> maps, ImageMetas metas) {
        ProposalConfig proposals = config.trainProposals();
        Supplier<Detections> select =
                () -> proposals.select(candidates(maps, metas, proposals.nmsPre()));
        return NoGrad.call(() -> Scope.call(select, Detections::list));
    }

    /** Returns the proposals of each image, best first, in the coordinates of the network input. */
    public Detections proposals(FeaturePyramid features, ImageMetas metas) {
        return Scope.call(
                () -> detect(List.of(features), List.of(metas.withoutScale())), Detections::list);
    }

    /**
     * Returns the proposals of an image, merged over views, in original coordinates, best first. As
     * in mmdetection, NMS runs over all views and levels together.
     */
    public Detections proposals(List<FeaturePyramid> views, List<ImageMetas> metas) {
        List<ScoredBoxes> all = new ArrayList<>();
        for (int v = 0; v < views.size(); v++) {
            ScoredBoxes proposals = proposals(views.get(v), metas.get(v)).toScoredBoxes();
            all.add(proposals.mapBoxes(metas.get(v)::toOriginal));
        }
        ScoredBoxes merged = ScoredBoxes.concat(all);
        Candidates oneLevel = new Candidates(merged, List.of(merged.size()));
        return config.testProposals().withoutMinSize().select(oneLevel);
    }

    @Override
    public Instances predictAugmented(List<FeaturePyramid> views, List<ImageInfo> images) {
        return proposals(views, ImageMetas.ofViews(views.get(0).get(0).getManager(), images))
                .toInstances()
                .get(0);
    }
}

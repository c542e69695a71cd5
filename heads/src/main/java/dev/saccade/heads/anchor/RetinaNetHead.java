package dev.saccade.heads.anchor;

import ai.djl.ndarray.NDArray;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Checks;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.DetectionHead;
import dev.saccade.core.parts.FeatureInfo;
import dev.saccade.core.parts.Part;
import dev.saccade.heads.box.Assigner;
import dev.saccade.heads.box.BoxCoder;
import dev.saccade.heads.box.BoxRegression;
import dev.saccade.heads.box.Detections;
import dev.saccade.heads.box.MulticlassNms;
import dev.saccade.heads.box.Sampler;
import dev.saccade.heads.box.ScoredBoxes;
import dev.saccade.heads.loss.BoxLoss;
import dev.saccade.heads.loss.ClassificationLoss;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * RetinaNet's head (Lin et al. 2017) as in mmdetection: two stacks of convolutions, shared by all
 * levels, that score and regress every anchor.
 */
public final class RetinaNetHead extends AnchorHead {

    /**
     * The hyper-parameters of a RetinaNet head.
     *
     * @param featChannels width of the stacked convolutions
     * @param stackedConvs how many convolutions are stacked in each branch
     * @param octaveBaseScale size of the smallest anchor in strides
     * @param scalesPerOctave number of anchor sizes
     * @param ratios height over width of the anchors
     * @param scaleMajor whether all scales of a ratio are consecutive, otherwise all ratios of a
     *     scale
     * @param centerOffset where in its cell an anchor is centered, in strides from the top-left
     *     corner; 0 in mmdetection's recipes, 0.5 for the middle
     * @param lossCls the loss of the classes
     * @param lossBbox the loss of the boxes
     * @param regDecodedBbox whether that loss looks at boxes rather than at bbox deltas
     * @param bboxCoder what encodes boxes as bbox deltas
     * @param assigner which anchor learns what
     * @param sampler which anchors are trained
     * @param nmsPre so many anchors of a level, those of the highest scores, are looked at
     * @param nms how objects are selected
     */
    @Part("retinanet")
    public record Config(
            @Default("256") int featChannels,
            @Default("4") int stackedConvs,
            @Default("4") double octaveBaseScale,
            @Default("3") int scalesPerOctave,
            @Default("[0.5, 1.0, 2.0]") List<Double> ratios,
            @Default("true") boolean scaleMajor,
            @Default("0") double centerOffset,
            @Default("{type: focal}") ClassificationLoss lossCls,
            @Default("{type: l1}") BoxLoss lossBbox,
            @Default("false") boolean regDecodedBbox,
            @Default("{type: delta_xywh}") BoxCoder bboxCoder,
            @Default("{type: max_iou}") Assigner assigner,
            @Default("{type: pseudo}") Sampler sampler,
            @Default("1000") int nmsPre,
            @Default("{type: nms}") MulticlassNms nms)
            implements DetectionHead.Config, AnchorHead.Config {

        /** Checks the values. */
        public Config {
            ratios = ImmutableList.copyOf(ratios);
            new Checks()
                    .within("feat_channels", featChannels, 1, 8192)
                    .within("stacked_convs", stackedConvs, 0, 100)
                    .within("octave_base_scale", octaveBaseScale, 0.001, 1000)
                    .within("scales_per_octave", scalesPerOctave, 1, 100)
                    .size("ratios", ratios, 1, 100)
                    .each("ratios", ratios, 0.001, 1000)
                    .within("center_offset", centerOffset, 0, 1)
                    .within("nms_pre", nmsPre, 1, 100_000_000)
                    .throwIfAny();
            AnchorGenerator.check("ratios", scalesPerOctave, ratios.size());
            BoxRegression.check(lossBbox, regDecodedBbox);
        }

        @Override
        public Map<String, Integer> objectLimits() {
            return ImmutableMap.of(MAX_PER_IMG, nms.maxPerImg(), "nms_pre", nmsPre);
        }

        @Override
        public CheckpointRules checkpointRules() {
            return RetinaNetCheckpoints.RULES;
        }

        @Override
        public AnchorGenerator anchorGenerator(List<Integer> strides) {
            List<Double> scales = AnchorGenerator.octaveScales(octaveBaseScale, scalesPerOctave);
            return new AnchorGenerator(scales, ratios, scaleMajor, centerOffset, strides);
        }

        @Override
        public RetinaNetHead build(List<FeatureInfo> features, int numClasses) {
            return new RetinaNetHead(this, features, numClasses);
        }
    }

    /** Probability that an untrained head gives to an object. */
    private static final double PRIOR = 0.01;

    private final Config config;
    private final List<ConvModule> clsConvs = new ArrayList<>();
    private final List<ConvModule> regConvs = new ArrayList<>();
    private final Conv2d retinaCls;
    private final Conv2d retinaReg;

    /** Makes a head without weights. */
    public RetinaNetHead(Config config, List<FeatureInfo> features, int numClasses) {
        super(config, features, numClasses);
        this.config = config;
        WeightInit init = WeightInit.normal(0.01);
        int width = config.featChannels();
        for (int i = 0; i < config.stackedConvs(); i++) {
            int in = i == 0 ? features.get(0).channels() : width;
            clsConvs.add(
                    add(
                            "bbox_head.cls_convs." + i,
                            ConvModule.relu(new Geometry(in, width, 3).padding(1), init)));
            regConvs.add(
                    add(
                            "bbox_head.reg_convs." + i,
                            ConvModule.relu(new Geometry(in, width, 3).padding(1), init)));
        }
        int in = config.stackedConvs() == 0 ? features.get(0).channels() : width;
        int anchors = anchorsPerCell();
        WeightInit prior = WeightInit.constant((float) -Math.log((1 - PRIOR) / PRIOR));
        retinaCls =
                add(
                        "bbox_head.retina_cls",
                        new Conv2d(
                                new Geometry(in, anchors * clsOutChannels(), 3).padding(1),
                                init,
                                prior));
        retinaReg =
                add(
                        "bbox_head.retina_reg",
                        new Conv2d(new Geometry(in, anchors * 4, 3).padding(1), init));
    }

    @Override
    protected LevelMaps forward(NDArray map, int level) {
        return new LevelMaps(
                retinaCls.apply(stacked(clsConvs, map)), retinaReg.apply(stacked(regConvs, map)));
    }

    @Override
    protected Detections bboxPostProcess(List<ScoredBoxes> candidates) {
        return config.nms().apply(ScoredBoxes.concat(candidates)).detections();
    }
}

package dev.saccade.heads.anchor;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.DetectionHead;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.components.Unwrapped;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.ClassRows;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.nn.Sequential;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.heads.box.Detections;
import dev.saccade.heads.box.MulticlassNms;

import java.util.List;
import java.util.Map;

/**
 * Base class of one-stage anchor heads with a classification and a regression tower.
 *
 * <p>A custom head extends this class, adds branches in {@link #forward(NDArray, NDArray, int)} and
 * trains them in {@link #levelLosses}; its config implements {@link Config}. A head that ranks
 * anchors by their class logits alone overrides {@link #ranksByLogits}, which is faster on CPUs.
 */
public abstract class DenseHead extends AnchorHead {

    /**
     * Settings shared by all one-stage heads.
     *
     * @param stackedConvs number of convolutions per tower; 0 after DyHead
     * @param normGroups groups of the group normalization after each convolution; 0 for none
     * @param predKernelSize odd kernel size of the prediction convolutions
     * @param octaveBaseScale size of the smallest anchor in strides
     */
    public record Settings(
            @Unwrapped AnchorHead.Settings anchors,
            @Default("4") int stackedConvs,
            @Default("0") int normGroups,
            @Default("3") int predKernelSize,
            @Default("4") double octaveBaseScale,
            @Default("3") int scalesPerOctave,
            @Default("1000") int nmsPre,
            @Default("{type: nms}") MulticlassNms nms) {

        public Settings {
            new Checks()
                    .inRange("stacked_convs", stackedConvs, 0, 100)
                    .inRange("norm_groups", normGroups, 0, 8192)
                    .inRange("pred_kernel_size", predKernelSize, 1, 31)
                    .inRange("octave_base_scale", octaveBaseScale, 0.001, 1000)
                    .inRange("scales_per_octave", scalesPerOctave, 1, 100)
                    .inRange("nms_pre", nmsPre, 1, 100_000_000)
                    .throwIfAny();
            Checks.require(
                    predKernelSize % 2 == 1, "pred_kernel_size", predKernelSize, "an odd number");
            Checks.require(
                    stackedConvs == 0
                            || normGroups == 0
                            || anchors.featChannels() % normGroups == 0,
                    "norm_groups",
                    normGroups,
                    "a divisor of feat_channels %s, or 0 for no group normalization",
                    anchors.featChannels());
            AnchorGenerator.check("ratios", scalesPerOctave, anchors.ratios().size());
        }
    }

    /**
     * Config of a one-stage head: a record with {@link Settings} and the settings of its branches.
     */
    public interface Config extends DetectionHead.Config {

        /** Returns the shared settings, whose keys are directly in the config of the head. */
        Settings settings();

        @Override
        default Map<String, Integer> objectLimits() {
            int maxPerImg = settings().nms().maxPerImg();
            return ImmutableMap.of(MAX_PER_IMG, maxPerImg, "nms_pre", settings().nmsPre());
        }

        @Override
        default CheckpointRules checkpointRules() {
            return CheckpointRules.NONE.withClassRows(
                    new ClassRows("bbox_head.{*}_cls.{*}", ClassRows.Order.BY_ANCHOR));
        }
    }

    /** Initial foreground probability. */
    private static final double PRIOR = 0.01;

    private final Settings settings;
    private final Sequential clsConvs;
    private final Sequential regConvs;
    private final int towerChannels;
    private final Conv2d cls;
    private final Conv2d reg;

    /** Creates the layers, named {@code bbox_head.NAME_cls} and {@code bbox_head.NAME_reg}. */
    protected DenseHead(
            String name, Settings settings, List<FeatureInfo> features, int numClasses) {
        super(
                settings.anchors(),
                AnchorGenerator.octaveScales(
                        settings.octaveBaseScale(), settings.scalesPerOctave()),
                features,
                numClasses);
        this.settings = settings;
        int in = features.get(0).channels();
        int width = settings.anchors().featChannels();
        clsConvs = add("bbox_head.cls_convs", tower(in, width));
        regConvs = add("bbox_head.reg_convs", tower(in, width));
        towerChannels = settings.stackedConvs() == 0 ? in : width;
        WeightInit prior = WeightInit.constant((float) -Math.log((1 - PRIOR) / PRIOR));
        cls = add("bbox_head." + name + "_cls", predictor(clsOutChannels(), prior));
        reg = add("bbox_head." + name + "_reg", predictor(4));
    }

    private Sequential tower(int in, int width) {
        Sequential tower = new Sequential();
        WeightInit init = WeightInit.normal(0.01);
        int groups = settings.normGroups();
        for (int i = 0; i < settings.stackedConvs(); i++) {
            Geometry conv = new Geometry(i == 0 ? in : width, width, 3).padding(1);
            tower.append(
                    groups == 0
                            ? ConvModule.relu(conv, init)
                            : ConvModule.groupNormRelu(conv, groups, init));
        }
        return tower;
    }

    /** Creates a convolution with the given number of output channels per anchor. */
    protected final Conv2d predictor(int channels) {
        return predictor(channels, WeightInit.ZEROS);
    }

    private Conv2d predictor(int channels, WeightInit bias) {
        int kernel = settings.predKernelSize();
        Geometry geometry = new Geometry(towerChannels, anchorsPerCell() * channels, kernel);
        return new Conv2d(geometry.padding(kernel / 2), WeightInit.normal(0.01), bias);
    }

    @Override
    protected final NDList forward(NDArray map, int level) {
        return forward(clsConvs.apply(map), regConvs.apply(map), level);
    }

    /**
     * Computes the maps of one level from the towers; subclasses append the maps of their branches.
     */
    protected NDList forward(NDArray clsFeatures, NDArray regFeatures, int level) {
        return new NDList(cls.apply(clsFeatures), reg.apply(regFeatures));
    }

    @Override
    protected final int nmsPre() {
        return settings.nmsPre();
    }

    @Override
    protected Detections select(Candidates candidates) {
        return settings.nms().apply(candidates.boxes()).detections();
    }
}

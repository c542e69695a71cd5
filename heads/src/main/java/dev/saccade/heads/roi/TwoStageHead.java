package dev.saccade.heads.roi;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.components.DetectionHead;
import dev.saccade.core.components.ExportableHead;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.script.DynamicShapes;
import dev.saccade.core.ops.vision.MaskCrop;
import dev.saccade.core.ops.vision.Rois;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Rle;
import dev.saccade.heads.anchor.ProposalConfig;
import dev.saccade.heads.anchor.RpnHead;
import dev.saccade.heads.box.GtInstances;
import dev.saccade.heads.box.ImageMetas;
import dev.saccade.heads.box.MulticlassNms;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Base class of two-stage heads, like mmdetection's {@code StandardRoIHead}, {@code CascadeRoIHead}
 * and {@code HybridTaskCascadeRoIHead}.
 *
 * <p>{@link TwoStageInference} implements inference. It copies from the GPU twice: the selected
 * detections, and their masks.
 */
public abstract class TwoStageHead extends DetectionHead implements ExportableHead {

    private static final int DUMMY_PROPOSALS = 1000;
    private static final int DUMMY_MASKS = 100;

    /** Settings of masks; {@code threshold} is the minimum probability of mask pixels. */
    public record MaskBranch(RoiExtractor roiExtractor, MaskHead.Config head, double threshold) {}

    public interface Config extends DetectionHead.Config {

        @Override
        default CheckpointRules checkpointRules() {
            return TwoStageCheckpoints.RULES;
        }

        RpnHead.Config rpnHead();

        RoiExtractor bboxRoiExtractor();

        /** Returns the settings of masks in all stages; empty for detectors without masks. */
        Optional<MaskBranch> masks();

        MulticlassNms nms();

        /** Returns the largest side of detections to drop before NMS; negative: none. */
        default double minBboxSize() {
            return -1;
        }

        @Override
        default boolean hasMasks() {
            return masks().isPresent();
        }

        @Override
        default Map<String, Integer> objectLimits() {
            ProposalConfig proposals = rpnHead().testProposals();
            return ImmutableMap.of(
                    MAX_PER_IMG,
                    nms().maxPerImg(),
                    "rpn_head.test_proposals.max_per_img",
                    proposals.maxPerImg(),
                    "rpn_head.test_proposals.nms_pre",
                    proposals.nmsPre());
        }
    }

    private final Config config;
    private final int channels;
    private final int numClasses;
    private final int testRegions;
    private final int trainRegions;
    private final RpnHead rpn;
    private final List<RoiStage> stages = new ArrayList<>();

    TwoStageHead(Config config, List<FeatureInfo> features, int numClasses) {
        checkArgument(numClasses > 0, "num_classes: got %s, expected > 0", numClasses);
        config.bboxRoiExtractor().checkFits(features);
        config.masks().ifPresent(masks -> masks.roiExtractor().checkFits(features));
        this.config = config;
        this.channels = features.get(0).channels();
        this.testRegions = config.rpnHead().testProposals().most(features.size());
        this.trainRegions = config.rpnHead().trainProposals().most(features.size());
        this.numClasses = numClasses;
        this.rpn = add("rpn_head", new RpnHead(config.rpnHead(), features));
    }

    /**
     * Adds a stage.
     *
     * @param suffix appended to the names of its heads, such as {@code .0}; empty with one stage
     * @param prefix prepended to the names of its losses
     */
    final void addStage(String suffix, String prefix, RoiStage.Config stage, boolean residual) {
        checkMemory(stage);
        int size = config.bboxRoiExtractor().outputSize();
        BoxHead box = new BoxHead(stage.bboxHead(), channels, size, numClasses);
        Optional<MaskHead> mask =
                config.masks().map(of -> new MaskHead(of.head(), channels, numClasses, residual));
        add("roi_head.bbox_head" + suffix, box);
        mask.ifPresent(head -> add("roi_head.mask_head" + suffix, head));
        stages.add(new RoiStage(stage, stages.size(), prefix, box, mask));
    }

    final void addStages(List<RoiStage.Config> cascade, boolean maskInfoFlow) {
        for (int s = 0; s < cascade.size(); s++) {
            addStage("." + s, "s" + s + ".", cascade.get(s), maskInfoFlow && s > 0);
        }
    }

    private void checkMemory(RoiStage.Config stage) {
        int boxChannels = Math.max(channels, stage.bboxHead().convOutChannels());
        config.bboxRoiExtractor().checkMemory("bbox_roi_extractor", maxRegions(stage), boxChannels);
        if (config.hasMasks()) {
            MaskBranch branch = config.masks().orElseThrow();
            int masks = numClasses * MaskHead.UPSAMPLING * MaskHead.UPSAMPLING;
            int convs = branch.head().convOutChannels();
            long objects = Math.min(config.nms().maxPerImg(), (long) testRegions * numClasses);
            branch.roiExtractor()
                    .checkMemory(
                            "mask_roi_extractor",
                            (int) objects,
                            Math.max(masks, Math.max(channels, convs)));
        }
    }

    /** Returns the maximum number of regions per image of a stage. */
    final int maxRegions(RoiStage.Config stage) {
        return Math.max(testRegions, Math.min(trainRegions, stage.sampler().num()));
    }

    final int channels() {
        return channels;
    }

    public RpnHead rpn() {
        return rpn;
    }

    List<RoiStage> stages() {
        return stages;
    }

    RoiStage lastStage() {
        return stages.get(stages.size() - 1);
    }

    boolean isLast(RoiStage stage) {
        return stage.index() == stages.size() - 1;
    }

    int numClasses() {
        return numClasses;
    }

    Config config() {
        return config;
    }

    RoiMasks masks() {
        return new RoiMasks(this);
    }

    /** Returns whether masks are averaged over all stages, instead of taken from the last stage. */
    boolean averagesMasks() {
        return true;
    }

    /** Returns whether mask heads are trained on regions refined by the box head of their stage. */
    boolean isInterleaved() {
        return false;
    }

    /** Returns the levels to pool regions from; subclasses may add levels. */
    FeaturePyramid roiFeatures(FeaturePyramid features) {
        return features;
    }

    NDArray poolForBoxes(FeaturePyramid features, Rois rois) {
        return config.bboxRoiExtractor().pool(features, rois);
    }

    NDArray poolForMasks(FeaturePyramid features, Rois rois) {
        return config.masks().orElseThrow().roiExtractor().pool(features, rois);
    }

    /** Returns the output of the box head of a stage; frees the pooled features. */
    BoxHead.Output forward(
            RoiStage stage, FeaturePyramid features, Rois rois, Optional<NDArray> weights) {
        return Scope.call(
                () -> stage.box().forward(poolForBoxes(features, rois), weights),
                BoxHead.Output::list);
    }

    /**
     * Returns mask probabilities {@code [D, S, S]} inside the boxes of D objects; the boxes are in
     * original coordinates.
     */
    public NDArray maskProbabilities(
            FeaturePyramid features, List<ImageInfo> images, List<Instances> objects) {
        return TwoStageInference.of(this, features, images).masks(objects);
    }

    /**
     * {@inheritDoc}
     *
     * @return mmdetection's losses: {@code loss_rpn_cls}, {@code loss_rpn_bbox}, and {@code
     *     loss_cls}, {@code loss_bbox} and {@code loss_mask} of every stage, prefixed {@code s0.},
     *     {@code s1.}, … in a cascade. The metric {@code acc} is the RoI classification accuracy in
     *     percent.
     */
    @Override
    public Losses losses(FeaturePyramid features, List<ImageInfo> images, List<Instances> targets) {
        return losses(features, features, images, targets);
    }

    /**
     * Returns the losses; regions are pooled from {@code roiFeatures}. Each stage of a cascade is
     * trained on the regions refined by the previous stage.
     */
    final Losses losses(
            FeaturePyramid features,
            FeaturePyramid roiFeatures,
            List<ImageInfo> images,
            List<Instances> targets) {
        NDManager manager = features.get(0).getManager();
        List<GtInstances> objects = GtInstances.of(manager, targets);
        ImageMetas metas = ImageMetas.of(manager, images);
        List<NDList> maps = rpn.apply(features);
        Map<String, NDArray> terms = new LinkedHashMap<>(rpn.losses(maps, images, objects).terms());
        Map<String, NDArray> metrics = new LinkedHashMap<>();
        List<RoiSamples.Candidates> candidates =
                RoiSamples.Candidates.of(rpn.trainProposals(maps, metas));
        List<Rle> masks =
                targets.stream().flatMap(each -> each.withArea().masks().stream()).toList();
        Optional<MaskCrop> crop =
                config.masks().map(of -> MaskCrop.of(of.head().style(), features.get(0), masks));
        for (RoiStage stage : stages) {
            RoiSamples samples =
                    RoiSamples.sample(stage.config(), stage.box(), candidates, objects, numClasses);
            BoxHead.Output output =
                    forward(stage, roiFeatures, samples.rois(), fillers(samples.weights()));
            if (!isLast(stage) || isInterleaved()) {
                candidates = refined(stage, output, samples, metas);
            }
            Losses losses = Autocast.off(() -> stage.box().losses(output, samples));
            Map<String, NDArray> ofStage = new LinkedHashMap<>(losses.terms());
            if (crop.isPresent()) {
                RoiSamples maskSamples =
                        isInterleaved()
                                ? RoiSamples.sample(
                                        stage.config(),
                                        stage.mask().orElseThrow(),
                                        candidates,
                                        objects,
                                        numClasses)
                                : samples;
                RoiSamples.Positives positives = maskSamples.positives();
                Optional<NDArray> weights = fillers(positives.weights());
                Rois rois = maskSamples.rois().select(positives.positions());
                NDArray logits = masks().logits(stage, roiFeatures, rois, weights);
                MaskHead head = stage.mask().orElseThrow();
                MaskCrop targetMasks = crop.get();
                ofStage.put(
                        "loss_mask", Autocast.off(() -> head.loss(logits, positives, targetMasks)));
            }
            NDArray weight = Tensors.of(manager, (float) stage.config().lossWeight());
            ofStage.forEach((term, loss) -> terms.put(stage.prefix() + term, loss.mul(weight)));
            losses.metrics().forEach((name, x) -> metrics.put(stage.prefix() + name, x));
        }
        return new Losses(terms, metrics);
    }

    /** Returns the weights if shapes are fixed, so that samples may be fillers; else empty. */
    private static Optional<NDArray> fillers(NDArray weights) {
        return DynamicShapes.areAllowedFor(weights) ? Optional.empty() : Optional.of(weights);
    }

    private static List<RoiSamples.Candidates> refined(
            RoiStage stage, BoxHead.Output output, RoiSamples samples, ImageMetas metas) {
        Rois rois = samples.rois();
        NDArray boxes =
                NoGrad.call(() -> stage.box().refine(output, rois.boxes(), samples.labels()));
        return samples.refined(metas.clip(boxes, rois.images()));
    }

    @Override
    public List<Instances> predict(FeaturePyramid features, List<ImageInfo> images) {
        return TwoStageInference.of(this, features, images).predict();
    }

    /** {@inheritDoc} As in mmdetection, boxes, scores and masks of all views are averaged. */
    @Override
    public Instances predictAugmented(List<FeaturePyramid> views, List<ImageInfo> images) {
        return TwoStageInference.ofAugmented(this, views, images).predict().get(0);
    }

    @Override
    public NDList predictArrays(FeaturePyramid features, NDArray sizes) {
        return TwoStageInference.ofSizes(this, features, sizes).predictArrays();
    }

    @Override
    public List<Instances> toInstances(NDList arrays, List<ImageInfo> images) {
        return TwoStageInference.toInstances(this, arrays, images);
    }

    @Override
    public NDList call(NDList inputs) {
        return rpn.call(inputs);
    }

    /** {@inheritDoc} As in mmdetection, runs on 1,000 proposals and 100 masks. */
    @Override
    public void forwardDummy(FeaturePyramid features) {
        super.forwardDummy(features);
        FeaturePyramid roiFeatures = roiFeatures(features);
        Rois proposals = dummyRois(features, DUMMY_PROPOSALS);
        stages.forEach(stage -> forward(stage, roiFeatures, proposals, Optional.empty()));
        if (config.hasMasks()) {
            Rois objects = dummyRois(features, DUMMY_MASKS);
            masks().averaged(roiFeatures, objects, objects.images());
        }
    }

    @Override
    public Map<String, Integer> dummyObjects() {
        return config.hasMasks()
                ? ImmutableMap.of("proposals", DUMMY_PROPOSALS, "masks", DUMMY_MASKS)
                : ImmutableMap.of("proposals", DUMMY_PROPOSALS);
    }

    private static Rois dummyRois(FeaturePyramid features, int count) {
        NDManager manager = features.get(0).getManager();
        NDArray images = manager.zeros(new Shape(count), DataType.INT64);
        return new Rois(manager.zeros(new Shape(count, 4)), images);
    }
}

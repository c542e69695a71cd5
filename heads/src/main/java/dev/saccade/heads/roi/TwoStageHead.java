package dev.saccade.heads.roi;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.ClassRows;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.vision.MaskPaste;
import dev.saccade.core.ops.vision.Rois;
import dev.saccade.core.parts.DetectionHead;
import dev.saccade.core.parts.FeatureInfo;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.anchor.ProposalConfig;
import dev.saccade.heads.anchor.RpnHead;
import dev.saccade.heads.box.Detections;
import dev.saccade.heads.box.ImageFrames;
import dev.saccade.heads.box.MulticlassNms;
import dev.saccade.heads.box.ScoredBoxes;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A head that proposes regions and then looks at each of them, in one stage or in several, as
 * mmdetection's {@code StandardRoIHead}, {@code CascadeRoIHead} and {@code
 * HybridTaskCascadeRoIHead}.
 *
 * <p>In inference it goes through {@link #propose}, the stages, a selection, and {@link
 * #drawMasks}; each may be done on several views of an image, and what comes out be merged. What is
 * selected is read once, and the masks once; nothing else is.
 */
public abstract class TwoStageHead extends DetectionHead {

    private static final int DUMMY_PROPOSALS = 1000;

    private static final int DUMMY_MASKS = 100;

    private final Config config;
    private final int channels;
    private final int numClasses;
    private final int testRegions;
    private final int trainRegions;
    private final RpnHead rpn;
    private final List<RoiStage> stages = new ArrayList<>();

    /** What the config of every head of regions says, whatever its stages. */
    public interface Config extends DetectionHead.Config {

        /** Class-specific box regression has 4 consecutive rows per class. */
        @Override
        default CheckpointRules checkpointRules() {
            return CheckpointRules.NONE.withClassRows(
                    new ClassRows("{*}.fc_reg.{*}", ClassRows.Order.BY_CLASS));
        }

        /** Returns what proposes regions. */
        RpnHead.Config rpnHead();

        /** Returns what pools them for the box heads. */
        RoiExtractor bboxRoiExtractor();

        /** Returns what pools them for the mask heads. */
        RoiExtractor maskRoiExtractor();

        /** Returns what draws the masks, in every stage; nothing for a detector of boxes. */
        Optional<MaskHead.Config> maskHead();

        /** Returns how objects are selected. */
        MulticlassNms nms();

        /** Returns which pixels are in a mask: those of at least this probability. */
        double maskThrBinary();

        @Override
        default boolean hasMasks() {
            return maskHead().isPresent();
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

    TwoStageHead(Config config, List<FeatureInfo> features, int numClasses) {
        checkArgument(numClasses > 0, "num_classes: got %s, expected > 0", numClasses);
        config.bboxRoiExtractor().checkFits(features);
        config.maskRoiExtractor().checkFits(features);
        this.config = config;
        this.channels = features.get(0).channels();
        this.testRegions = config.rpnHead().testProposals().most(features.size());
        this.trainRegions = config.rpnHead().trainProposals().most(features.size());
        this.numClasses = numClasses;
        this.rpn = add("rpn_head", new RpnHead(config.rpnHead(), features));
    }

    /**
     * Adds a stage behind those that are there.
     *
     * @param place what the names of its heads end with, such as {@code .0}; nothing for the only
     *     stage
     * @param prefix what the names of its losses start with
     * @param residual whether its mask head takes in the features of the one before
     */
    final void addStage(String place, String prefix, RoiStage.Config stage, boolean residual) {
        checkHold(stage);
        int size = config.bboxRoiExtractor().outputSize();
        BoxHead box = new BoxHead(stage.bboxHead(), channels, size, numClasses);
        Optional<MaskHead> mask =
                config.maskHead().map(head -> new MaskHead(head, channels, numClasses, residual));
        add("roi_head.bbox_head" + place, box);
        mask.ifPresent(head -> add("roi_head.mask_head" + place, head));
        stages.add(new RoiStage(stage, stages.size(), prefix, box, mask));
    }

    /**
     * Adds the stages of a cascade.
     *
     * @param maskInfoFlow whether mask heads take in the features of those before
     */
    final void addStages(List<RoiStage.Config> cascade, boolean maskInfoFlow) {
        for (int s = 0; s < cascade.size(); s++) {
            addStage("." + s, "s" + s + ".", cascade.get(s), maskInfoFlow && s > 0);
        }
    }

    /** Refuses regions that would fill the memory when they are pooled for a stage. */
    private void checkHold(RoiStage.Config stage) {
        config.bboxRoiExtractor()
                .checkHolds(
                        "bbox_roi_extractor",
                        mostRegions(stage),
                        Math.max(channels, stage.bboxHead().convOutChannels()));
        config.maskHead()
                .ifPresent(
                        head -> {
                            int drawn = numClasses * MaskHead.UPSAMPLING * MaskHead.UPSAMPLING;
                            int most = Math.max(drawn, Math.max(channels, head.convOutChannels()));
                            int objects =
                                    (int)
                                            Math.min(
                                                    config.nms().maxPerImg(),
                                                    (long) testRegions * numClasses);
                            config.maskRoiExtractor()
                                    .checkHolds("mask_roi_extractor", objects, most);
                        });
    }

    /** Returns the most regions of an image that a stage looks at. */
    final int mostRegions(RoiStage.Config stage) {
        return Math.max(testRegions, Math.min(trainRegions, stage.sampler().num()));
    }

    /** Returns the number of channels of a pooled region. */
    final int channels() {
        return channels;
    }

    /** Returns what proposes regions. */
    public RpnHead rpn() {
        return rpn;
    }

    /** Returns what looks at the regions, one behind the other. */
    List<RoiStage> stages() {
        return Collections.unmodifiableList(stages);
    }

    /** Returns the number of classes, without background. */
    int numClasses() {
        return numClasses;
    }

    @Override
    public NDList call(NDList inputs) {
        return rpn.call(inputs);
    }

    /**
     * {@inheritDoc}
     *
     * <p>Every box head runs on 1,000 proposals and every mask head on 100 objects, as in
     * mmdetection.
     */
    @Override
    public void forwardDummy(FeaturePyramid features) {
        Scope.run(
                () -> {
                    super.forwardDummy(features);
                    RoiFeatures seen = look(features);
                    Rois proposals = dummyRois(features, DUMMY_PROPOSALS);
                    stages.forEach(stage -> forward(stage, seen, proposals, Optional.empty()));
                    if (hasMasks()) {
                        Rois objects = dummyRois(features, DUMMY_MASKS);
                        MaskBranch everyMask = new MaskBranch(masks().heads(), true);
                        everyMask.probabilities(poolForMasks(seen, objects), objects.images());
                    }
                });
    }

    @Override
    public Map<String, Integer> dummyObjects() {
        return hasMasks()
                ? ImmutableMap.of("proposals", DUMMY_PROPOSALS, "masks", DUMMY_MASKS)
                : ImmutableMap.of("proposals", DUMMY_PROPOSALS);
    }

    private static Rois dummyRois(FeaturePyramid features, int count) {
        NDManager manager = features.get(0).getManager();
        return new Rois(
                manager.zeros(new Shape(count, 4)),
                manager.zeros(new Shape(count), DataType.INT64));
    }

    /**
     * {@inheritDoc}
     *
     * @return the losses of mmdetection: {@code loss_rpn_cls} and {@code loss_rpn_bbox}; {@code
     *     loss_cls}, {@code loss_bbox} and, with masks, {@code loss_mask} of every stage, behind
     *     {@code s0.}, {@code s1.} and so on in a cascade. The figure {@code acc} is the share of
     *     regions told rightly, in percent.
     */
    @Override
    public Losses losses(FeaturePyramid features, List<ImageInfo> images, List<Instances> targets) {
        return new TwoStageTraining(this, new RoiFeatures(features), images).losses(targets);
    }

    /**
     * Returns the scores and bbox deltas of regions.
     *
     * @param weights 0 for fillers, if there may be any
     */
    BoxHead.Output forward(
            RoiStage stage, RoiFeatures features, Rois rois, Optional<NDArray> weights) {
        NDList output =
                Scope.list(
                        () -> {
                            NDArray pooled = poolForBoxes(features, rois);
                            return stage.box().forward(pooled, weights).list();
                        });
        return new BoxHead.Output(output.get(0), output.get(1));
    }

    @Override
    public List<Instances> predict(FeaturePyramid features, List<ImageInfo> images) {
        return NoGrad.call(
                () ->
                        Scope.call(
                                () ->
                                        new TwoStageInference(this, look(features), images)
                                                .predict()));
    }

    @Override
    public NDList detect(FeaturePyramid features, NDArray sizes) {
        ImageFrames frames = ImageFrames.ofSizes(sizes);
        return new TwoStageInference(this, look(features), List.of(), frames).detect();
    }

    @Override
    public List<Instances> objects(NDList detected, List<ImageInfo> images) {
        List<Instances> found = Detections.of(detected).toInstances(images);
        return hasMasks()
                ? TwoStageInference.outlined(this, found, images, drawn(detected.get(4), found))
                : found;
    }

    /** Reads the masks of as many objects as there are in each image. */
    private static List<float[]> drawn(NDArray masks, List<Instances> found) {
        float[] all = Tensors.readFloats(masks);
        int each = all.length / found.size();
        int numbers = Math.toIntExact(masks.getShape().get(2) * masks.getShape().get(3));
        List<float[]> byImage = new ArrayList<>();
        for (int n = 0; n < found.size(); n++) {
            int to = n * each + found.get(n).size() * numbers;
            byImage.add(Arrays.copyOfRange(all, n * each, to));
        }
        return byImage;
    }

    /**
     * {@inheritDoc}
     *
     * <p>As in mmdetection, the views share their proposals, and boxes, scores and masks are means
     * over the views.
     */
    @Override
    public Instances predictViews(List<FeaturePyramid> views, List<ImageInfo> images) {
        return new TwoStageViews(this, views, images).predict();
    }

    /** Returns the best of scored boxes. */
    Detections select(ScoredBoxes scored) {
        return config.nms().apply(scored).detections();
    }

    /** Returns masks from their probabilities inside of boxes on an image. */
    List<Rle> paste(float[] masks, Boxes boxes, Size image) {
        return IntStream.range(0, boxes.size())
                .mapToObj(i -> new MaskPaste(masks, boxes, i, maskSize(), image))
                .map(paste -> paste.atLeast((float) config.maskThrBinary()))
                .collect(ImmutableList.toImmutableList());
    }

    /** Returns whether masks are drawn. */
    boolean hasMasks() {
        return stages.get(0).mask().isPresent();
    }

    /**
     * Returns the regions of each image that may show an object, best first, in the coordinates of
     * the network input.
     */
    public Detections propose(FeaturePyramid features, List<ImageInfo> images) {
        return rpn.propose(features, images);
    }

    /** Returns what regions are pooled from, in inference. */
    RoiFeatures look(FeaturePyramid features) {
        return new RoiFeatures(features);
    }

    /** Returns the features of regions that are to be classified. */
    NDArray poolForBoxes(RoiFeatures features, Rois rois) {
        return config.bboxRoiExtractor().pool(features.pyramid(), rois);
    }

    /** Returns the features of regions whose masks are to be drawn. */
    NDArray poolForMasks(RoiFeatures features, Rois rois) {
        return config.maskRoiExtractor().pool(features.pyramid(), rois);
    }

    /** Returns what draws masks; there are such heads. */
    MaskBranch masks() {
        return new MaskBranch(
                stages.stream().map(stage -> stage.mask().orElseThrow()).toList(), averagesMasks());
    }

    /** Returns whether the masks of all stages are averaged, instead of the last one's drawn. */
    boolean averagesMasks() {
        return true;
    }

    /**
     * Returns whether the mask head of a stage is trained on regions that its box head has refined,
     * instead of on those of the box head.
     */
    boolean isInterleaved() {
        return false;
    }

    /**
     * Returns the probabilities of the masks of objects, {@code [D * S * S]} of each image, inside
     * their boxes.
     *
     * @param objects of each image, in the coordinates of the original image
     */
    public List<float[]> drawMasks(
            FeaturePyramid features, List<ImageInfo> images, List<Instances> objects) {
        return NoGrad.call(
                () ->
                        Scope.call(
                                () ->
                                        new TwoStageInference(this, look(features), images)
                                                .drawMasks(objects)));
    }

    /** Returns the height and width of what is drawn of a mask. */
    int maskSize() {
        return MaskHead.UPSAMPLING * config.maskRoiExtractor().outputSize();
    }
}

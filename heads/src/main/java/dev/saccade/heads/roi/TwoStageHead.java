package dev.saccade.heads.roi;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Floats;

import dev.saccade.core.ops.MaskPaste;
import dev.saccade.core.ops.NoGrad;
import dev.saccade.core.ops.Scope;
import dev.saccade.core.ops.Script;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.parts.DetectionHead;
import dev.saccade.core.parts.FeatureInfo;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Rois;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.anchor.RpnHead;
import dev.saccade.heads.box.BoxCoder;
import dev.saccade.heads.box.MulticlassNms;
import dev.saccade.heads.box.ScoredBoxes;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A head that proposes regions and then looks at each of them, in one stage or in several, as
 * mmdetection's {@code StandardRoIHead} and {@code CascadeRoIHead}.
 *
 * <p>In inference it goes through {@link #propose}, {@link #score}, a selection, and {@link
 * #drawMasks}; each may be done on several views of an image, and what comes out be merged.
 */
public abstract class TwoStageHead extends DetectionHead {

    private static final Script SOFTMAX =
            Script.compile("(logits: Tensor) -> Tensor", "return torch.softmax(logits, 1)");

    private final Config config;
    private final int channels;
    private final int numClasses;
    private final int testRegions;
    private final int trainRegions;
    private final RpnHead rpn;
    private final List<RoiStage> stages = new ArrayList<>();

    /** What the config of every head of regions says, whatever its stages. */
    public interface Config extends DetectionHead.Config {

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
     */
    final void addStage(String place, String prefix, RoiStage.Config stage) {
        checkHold(stage);
        int size = config.bboxRoiExtractor().outputSize();
        BoxHead box = new BoxHead(stage.bboxHead(), channels, size, numClasses);
        Optional<MaskHead> mask =
                config.maskHead().map(head -> new MaskHead(head, channels, numClasses));
        add("roi_head.bbox_head" + place, box);
        mask.ifPresent(head -> add("roi_head.mask_head" + place, head));
        stages.add(new RoiStage(stage, stages.size(), prefix, box, mask));
    }

    /** Refuses regions that would fill the memory when they are pooled for a stage. */
    private void checkHold(RoiStage.Config stage) {
        config.bboxRoiExtractor()
                .checkHolds(
                        "bbox_roi_extractor",
                        Math.max(testRegions, Math.min(trainRegions, stage.sampler().num())),
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
     * @return the losses of mmdetection: {@code loss_rpn_cls} and {@code loss_rpn_bbox}; {@code
     *     loss_cls}, {@code loss_bbox} and, with masks, {@code loss_mask} of every stage, behind
     *     {@code s0.}, {@code s1.} and so on in a cascade. The figure {@code acc} is the share of
     *     regions told rightly, in percent.
     */
    @Override
    public Losses losses(FeaturePyramid features, List<ImageInfo> images, List<Instances> targets) {
        return new TwoStageTraining(this, features, images).losses(targets);
    }

    /** Returns the scores and bbox deltas of regions. */
    BoxHead.Output forward(RoiStage stage, FeaturePyramid features, Rois rois) {
        return stage.box().forward(config.bboxRoiExtractor().pool(features, rois));
    }

    /** Returns the regions of each image, clipped to its size. */
    static List<Boxes> clipped(Rois rois, List<ImageInfo> images) {
        List<Boxes> boxes = rois.byImage(images.size());
        return IntStream.range(0, images.size())
                .mapToObj(n -> boxes.get(n).clip(images.get(n).size()))
                .collect(ImmutableList.toImmutableList());
    }

    @Override
    public List<Instances> predict(FeaturePyramid features, List<ImageInfo> images) {
        List<Boxes> proposals = propose(features, images).stream().map(Instances::boxes).toList();
        List<ScoredBoxes> scored = score(features, images, proposals);
        List<Instances> found = new ArrayList<>();
        for (int n = 0; n < images.size(); n++) {
            ScoredBoxes each = scored.get(n);
            ScoredBoxes decided = stages.size() == 1 ? undecided(each, proposals.get(n)) : each;
            Boxes boxes = images.get(n).toOriginal(decided.boxes());
            found.add(select(new ScoredBoxes(boxes, decided.scores())));
        }
        if (!hasMasks()) {
            return ImmutableList.copyOf(found);
        }
        List<float[]> masks = drawMasks(features, images, found);
        ImmutableList.Builder<Instances> outlined = ImmutableList.builder();
        for (int n = 0; n < images.size(); n++) {
            ImageInfo image = images.get(n);
            // To the input and back, for the rounding of the original.
            Boxes boxes = image.toOriginal(image.fromOriginal(found.get(n).boxes()));
            outlined.add(found.get(n).withMasks(paste(masks.get(n), boxes, image.original())));
        }
        return outlined.build();
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

    /**
     * Leaves regions that end at the top of the image where they are, all classes being alike: Mask
     * R-CNN in mmdetection takes them for fillers of a batch.
     */
    private ScoredBoxes undecided(ScoredBoxes scored, Boxes regions) {
        float[] scores = scored.scores().clone();
        float[] corners = scored.boxes().toArray();
        int columns = corners.length / Math.max(1, regions.size());
        for (int r = 0; r < regions.size(); r++) {
            if (regions.y2(r) == 0) {
                Arrays.fill(scores, r * numClasses, (r + 1) * numClasses, 1f / (numClasses + 1));
                float[] region = regions.select(r).toArray();
                for (int i = 0; i < columns; i++) {
                    corners[r * columns + i] = region[i % 4];
                }
            }
        }
        return new ScoredBoxes(Boxes.of(corners), scores);
    }

    /** Returns the best of scored boxes. */
    Instances select(ScoredBoxes scored) {
        return config.nms().apply(scored.boxes(), scored.scores(), numClasses).instances();
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
    public List<Instances> propose(FeaturePyramid features, List<ImageInfo> images) {
        return rpn.propose(features, images);
    }

    /**
     * Scores and regresses regions.
     *
     * @param proposals the regions of each image, in the coordinates of the network input
     * @return every class of every region of each image, in the same coordinates
     */
    public List<ScoredBoxes> score(
            FeaturePyramid features, List<ImageInfo> images, List<Boxes> proposals) {
        if (proposals.stream().allMatch(Boxes::isEmpty)) {
            return proposals.stream().map(none -> new ScoredBoxes(none, new float[0])).toList();
        }
        return NoGrad.call(
                () -> {
                    List<ScoredBoxes> scored = new ArrayList<>();
                    Scope.run(() -> scored.addAll(scored(features, images, proposals)));
                    return ImmutableList.copyOf(scored);
                });
    }

    private List<ScoredBoxes> scored(
            FeaturePyramid features, List<ImageInfo> images, List<Boxes> proposals) {
        List<Boxes> boxes = proposals;
        NDArray logits = null;
        BoxHead.Output output = null;
        for (RoiStage stage : stages) {
            Rois rois = Rois.of(boxes);
            output = forward(stage, features, rois);
            logits = logits == null ? output.logits() : logits.add(output.logits());
            if (stage.index() < stages.size() - 1) {
                Boxes refined = stage.box().refine(output, rois.boxes());
                boxes = clipped(new Rois(refined, rois.images()), images);
            }
        }
        NDArray mean = logits.div(Tensors.of(logits.getManager(), stages.size()));
        float[] probabilities = SOFTMAX.run(mean).toFloatArray();
        float[] deltas = output.deltas().toFloatArray();
        List<ScoredBoxes> scored = new ArrayList<>();
        int from = 0;
        for (int n = 0; n < images.size(); n++) {
            int to = from + boxes.get(n).size();
            scored.add(
                    scored(
                            boxes.get(n),
                            rows(probabilities, numClasses + 1, from, to),
                            rows(deltas, (int) output.deltas().getShape().get(1), from, to),
                            images.get(n)));
            from = to;
        }
        return scored;
    }

    private static float[] rows(float[] table, int columns, int from, int to) {
        return Arrays.copyOfRange(table, columns * from, columns * to);
    }

    private ScoredBoxes scored(
            Boxes boxes, float[] probabilities, float[] deltas, ImageInfo image) {
        float[] scores = new float[boxes.size() * numClasses];
        for (int r = 0; r < boxes.size(); r++) {
            int row = r * (numClasses + 1);
            System.arraycopy(probabilities, row, scores, r * numClasses, numClasses);
        }
        BoxCoder coder = stages.get(stages.size() - 1).box().coder();
        return new ScoredBoxes(coder.decode(boxes, deltas).clip(image.size()), scores);
    }

    /**
     * Returns the probabilities of the masks of objects, {@code [D * S * S]} of each image, inside
     * their boxes.
     *
     * @param objects of each image, in the coordinates of the original image
     */
    public List<float[]> drawMasks(
            FeaturePyramid features, List<ImageInfo> images, List<Instances> objects) {
        List<Boxes> boxes = new ArrayList<>();
        for (int n = 0; n < images.size(); n++) {
            boxes.add(images.get(n).fromOriginal(objects.get(n).boxes()));
        }
        Rois rois = Rois.of(boxes);
        int[] labels = objects.stream().flatMapToInt(all -> Arrays.stream(all.labels())).toArray();
        float[] masks = rois.size() == 0 ? new float[0] : drawMasks(features, rois, labels);
        List<float[]> byImage = new ArrayList<>();
        int from = 0;
        for (Boxes ofImage : boxes) {
            int to = from + ofImage.size();
            byImage.add(rows(masks, maskSize() * maskSize(), from, to));
            from = to;
        }
        for (int n = 0; n < images.size(); n++) {
            if (images.get(n).flipped()) {
                mirror(byImage.get(n));
            }
        }
        return byImage;
    }

    /** Returns the features of regions whose masks are to be drawn. */
    NDArray poolForMasks(FeaturePyramid features, Rois rois) {
        return config.maskRoiExtractor().pool(features, rois);
    }

    private float[] drawMasks(FeaturePyramid features, Rois rois, int[] labels) {
        float[][] drawn = new float[1][];
        NoGrad.run(() -> Scope.run(() -> drawn[0] = meanMask(features, rois, labels)));
        return drawn[0];
    }

    private float[] meanMask(FeaturePyramid features, Rois rois, int[] labels) {
        NDArray pooled = poolForMasks(features, rois);
        NDArray sum = Tensors.of(pooled.getManager(), 0);
        for (RoiStage stage : stages) {
            MaskHead head = stage.mask().orElseThrow();
            sum = sum.add(head.probabilities(head.forward(pooled), labels));
        }
        return sum.div(Tensors.of(pooled.getManager(), stages.size())).toFloatArray();
    }

    /** Turns the rows of masks round. */
    private void mirror(float[] masks) {
        for (int row = 0; row < masks.length; row += maskSize()) {
            Floats.reverse(masks, row, row + maskSize());
        }
    }

    private int maskSize() {
        return MaskHead.UPSAMPLING * config.maskRoiExtractor().outputSize();
    }
}

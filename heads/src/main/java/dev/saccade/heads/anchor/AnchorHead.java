package dev.saccade.heads.anchor;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.DetectionHead;
import dev.saccade.core.components.ExportableHead;
import dev.saccade.core.components.FeatureInfo;
import dev.saccade.core.nn.SampleRandom;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.Tracer;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Size;
import dev.saccade.heads.box.Assigner;
import dev.saccade.heads.box.Assignment;
import dev.saccade.heads.box.BaseSampler;
import dev.saccade.heads.box.BoxCoder;
import dev.saccade.heads.box.BoxRegression;
import dev.saccade.heads.box.Detections;
import dev.saccade.heads.box.GtInstances;
import dev.saccade.heads.box.ImageMetas;
import dev.saccade.heads.box.Positions;
import dev.saccade.heads.box.Priors;
import dev.saccade.heads.box.SamplingResult;
import dev.saccade.heads.box.ScoredBoxes;
import dev.saccade.heads.loss.BoxLoss;
import dev.saccade.heads.loss.ClassificationLoss;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Base class of heads that classify and regress anchors, like mmdetection's {@code AnchorHead}.
 *
 * <p>Inference computes the maps ({@link #apply}), keeps and decodes the best anchors of each level
 * ({@link #candidates}), and runs {@link #select}. With test-time augmentation, the candidates of
 * all views are selected together.
 */
public abstract class AnchorHead extends DetectionHead implements ExportableHead {

    /**
     * Settings shared by all anchor heads.
     *
     * @param ratios anchor height / width
     * @param anchorSizes anchor sizes of each level in pixels, which replace all scales; the
     *     anchors then equal torchvision's {@code AnchorGenerator}
     * @param scaleMajor whether all scales of a ratio are consecutive
     * @param centerOffset anchor center offset within a cell, in strides: 0 in most of
     *     mmdetection's recipes, 0.5 for the cell center
     * @param regDecodedBbox whether {@code loss_bbox} compares decoded boxes instead of deltas
     * @param allowedBorder how far anchors to train on may extend beyond the image, in pixels;
     *     negative: no limit
     */
    public record Settings(
            @Default("256") int featChannels,
            @Default("[0.5, 1.0, 2.0]") List<Double> ratios,
            @Default("[]") List<List<Integer>> anchorSizes,
            @Default("true") boolean scaleMajor,
            @Default("0") double centerOffset,
            @Default("{type: focal}") ClassificationLoss lossCls,
            @Default("{type: l1}") BoxLoss lossBbox,
            @Default("false") boolean regDecodedBbox,
            @Default("{type: delta_xywh}") BoxCoder bboxCoder,
            @Default("{type: max_iou}") Assigner assigner,
            @Default("{type: pseudo}") BaseSampler sampler,
            @Default("-1") double allowedBorder) {

        public Settings {
            ratios = ImmutableList.copyOf(ratios);
            anchorSizes = anchorSizes.stream().map(List::copyOf).toList();
            Checks checks = new Checks().size("anchor_sizes", anchorSizes, 0, 16);
            for (int l = 0; l < anchorSizes.size(); l++) {
                int count = anchorSizes.get(0).size();
                String key = "anchor_sizes[" + l + "]";
                checks.size(key, anchorSizes.get(l), Math.max(1, count), Math.max(1, count))
                        .each(key, anchorSizes.get(l), 1, 1 << 15);
            }
            checks.inRange("feat_channels", featChannels, 1, 8192)
                    .size("ratios", ratios, 1, 100)
                    .each("ratios", ratios, 0.001, 1000)
                    .inRange("center_offset", centerOffset, 0, 1)
                    .inRange("allowed_border", allowedBorder, -1, 1e6)
                    .throwIfAny();
            BoxRegression.check(lossBbox, regDecodedBbox);
            if (!anchorSizes.isEmpty()) {
                AnchorGenerator.check("ratios", anchorSizes.get(0).size(), ratios.size());
                Checks.require(
                        centerOffset == 0, "center_offset", centerOffset, "0 with anchor_sizes");
            }
        }

        private AnchorGenerator anchorGenerator(List<Double> scales, List<Integer> strides) {
            return anchorSizes.isEmpty()
                    ? new AnchorGenerator(scales, ratios, scaleMajor, centerOffset, strides)
                    : AnchorGenerator.ofSizes(anchorSizes, ratios, scaleMajor, strides);
        }
    }

    private final Settings settings;
    private final int numClasses;
    private final AnchorGenerator anchorGenerator;
    private final BoxRegression regression;

    /**
     * Creates the anchors ({@code scales} in strides, unless the settings have sizes); subclasses
     * add the layers.
     *
     * @throws IllegalArgumentException if levels differ in channels, because they share layers
     */
    protected AnchorHead(
            Settings settings, List<Double> scales, List<FeatureInfo> features, int numClasses) {
        checkArgument(numClasses > 0, "num_classes: got %s, expected > 0", numClasses);
        List<Integer> channels = features.stream().map(FeatureInfo::channels).toList();
        checkArgument(
                channels.stream().distinct().count() == 1,
                "got levels with %s channels, expected the same number in all; add a neck such"
                        + " as model.neck={type: fpn}",
                channels);
        this.settings = settings;
        this.numClasses = numClasses;
        anchorGenerator =
                settings.anchorGenerator(
                        scales, features.stream().map(FeatureInfo::stride).toList());
        regression =
                new BoxRegression(
                        settings.bboxCoder(), settings.lossBbox(), settings.regDecodedBbox());
    }

    /** Returns K, the number of logits per anchor: C, or C + 1 with softmax. */
    protected final int clsOutChannels() {
        return settings.lossCls().outChannels(numClasses);
    }

    /** Returns the number of anchors per cell, A. */
    protected final int anchorsPerCell() {
        return anchorGenerator.anchorsPerCell();
    }

    /**
     * Computes the output maps of one level from its features {@code [N, channels, H, W]}.
     *
     * @return {@code [N, A * K, H, W]} class logits, {@code [N, A * 4, H, W]} bbox deltas, and the
     *     maps of additional branches
     */
    protected abstract NDList forward(NDArray map, int level);

    /** Returns the maps of every level in float32; see {@link #forward}. */
    public final List<NDList> apply(FeaturePyramid features) {
        return maps(features, AnchorHead::toFloat32);
    }

    /** Returns the changed maps of every level; frees the others. */
    private List<NDList> maps(FeaturePyramid features, UnaryOperator<NDList> change) {
        List<NDList> maps = new ArrayList<>();
        for (int l = 0; l < features.size(); l++) {
            int level = l;
            maps.add(Scope.list(() -> change.apply(forward(features.get(level), level))));
        }
        return maps;
    }

    private static NDList toFloat32(NDList maps) {
        return new NDList(maps.stream().map(Tensors::toFloat32).toList());
    }

    @Override
    public final NDList call(NDList inputs) {
        NDList maps = new NDList();
        apply(new FeaturePyramid(inputs)).forEach(maps::addAll);
        return maps;
    }

    /** Returns one row per anchor of a map: {@code [N * H * W * A, columns]}. */
    protected static NDArray rows(NDArray map, int columns) {
        return map.transpose(0, 2, 3, 1).reshape(-1, columns);
    }

    /** Returns the rows of the given anchors, {@code [P, columns]}. */
    protected static NDArray rows(NDArray map, int columns, Positions anchors) {
        return anchors.select(rows(map, columns));
    }

    public final AnchorGrid grid(List<NDList> maps) {
        return new AnchorGrid(maps.get(0).get(0).getManager(), anchorGenerator, sizes(maps));
    }

    private static List<Size> sizes(List<NDList> maps) {
        List<Size> grids = new ArrayList<>();
        for (NDList level : maps) {
            long[] shape = level.get(0).getShape().getShape();
            grids.add(new Size((int) shape[2], (int) shape[3]));
        }
        return grids;
    }

    /**
     * {@inheritDoc}
     *
     * @return the terms of {@link #levelLosses}, summed over the levels and divided by their {@link
     *     #avgFactor}
     */
    @Override
    public final Losses losses(
            FeaturePyramid features, List<ImageInfo> images, List<Instances> targets) {
        List<NDList> maps = apply(features);
        return losses(maps, images, GtInstances.of(features.get(0).getManager(), targets));
    }

    public final Losses losses(
            List<NDList> maps, List<ImageInfo> images, List<GtInstances> objects) {
        return Autocast.off(
                () -> {
                    AnchorTargets targets = targets(grid(maps), images, objects);
                    Map<String, NDArray> sums = new LinkedHashMap<>();
                    for (int l = 0; l < maps.size(); l++) {
                        levelLosses(maps.get(l), targets.levels().get(l))
                                .forEach((term, sum) -> sums.merge(term, sum, NDArray::add));
                    }
                    sums.replaceAll((term, sum) -> sum.div(avgFactor(term, targets)));
                    return new Losses(sums);
                });
    }

    /** Returns {@code loss_cls} and {@code loss_bbox}, summed over the anchors of one level. */
    protected Map<String, NDArray> levelLosses(NDList maps, AnchorTargets.Level targets) {
        NDArray weights = targets.positives().weights();
        return ImmutableMap.of(
                "loss_cls", clsLoss(maps, targets), "loss_bbox", bboxLoss(maps, targets, weights));
    }

    /** Returns the classification loss of one level, summed over the anchors to train on. */
    protected final NDArray clsLoss(NDList maps, AnchorTargets.Level targets) {
        ClassificationLoss loss = settings.lossCls();
        NDArray logits = rows(maps.get(0), clsOutChannels());
        return Losses.requireScalar(
                "loss_cls " + loss.type(),
                loss.sum(logits, targets.labels(), targets.labelWeights()));
    }

    /**
     * Returns the summed box loss of the positive anchors. {@code weights [P]} are 0 for fillers
     * (see {@link Positions}).
     */
    protected final NDArray bboxLoss(NDList maps, AnchorTargets.Level targets, NDArray weights) {
        NDArray deltas = rows(maps.get(1), 4, targets.positives());
        return regression.sum(deltas, targets.anchors(), targets.boxes(), weights);
    }

    /** Returns the divisor of a loss term, a scalar. */
    public NDArray avgFactor(String term, AnchorTargets targets) {
        return targets.avgFactor();
    }

    public AnchorTargets targets(
            AnchorGrid grid, List<ImageInfo> images, List<GtInstances> objects) {
        List<AnchorTargets.ImageTargets> sampled = new ArrayList<>();
        for (int n = 0; n < images.size(); n++) {
            Optional<AnchorGrid.Inside> inside =
                    grid.inside(images.get(n), settings.allowedBorder());
            Priors priors = inside.map(AnchorGrid.Inside::priors).orElseGet(grid::priors);
            Assignment assignment = Assignment.assign(settings.assigner(), priors, objects.get(n));
            SamplingResult result =
                    SamplingResult.sample(
                            settings.sampler(), assignment, SampleRandom.of(n, path()));
            sampled.add(
                    AnchorTargets.ImageTargets.of(
                            assignment.gtInds(), result, objects.get(n), grid, inside));
        }
        return AnchorTargets.join(grid, sampled, numClasses);
    }

    /** Returns class probabilities of the anchors of one level, {@code [N * H * W * A, C]}. */
    protected NDArray scores(NDList maps) {
        NDArray logits = rows(maps.get(0), clsOutChannels());
        return settings.lossCls().useSigmoid()
                ? Functional.sigmoid(logits)
                : Functional.slice(Functional.softmax(logits, 1), 1, 0, -1);
    }

    protected abstract int nmsPre();

    /** Selects the final detections from the top-scoring anchors of each level and view. */
    protected abstract Detections select(Candidates candidates);

    @Override
    public List<Instances> predict(FeaturePyramid features, List<ImageInfo> images) {
        ImageMetas metas = ImageMetas.of(features.get(0).getManager(), images);
        return detect(List.of(features), List.of(metas)).toInstances();
    }

    /**
     * {@inheritDoc}
     *
     * <p>As in mmdetection, NMS runs over the boxes of all views together.
     */
    @Override
    public Instances predictAugmented(List<FeaturePyramid> views, List<ImageInfo> images) {
        return detect(views, ImageMetas.ofViews(views.get(0).get(0).getManager(), images))
                .toInstances()
                .get(0);
    }

    @Override
    public NDList predictArrays(FeaturePyramid features, NDArray sizes) {
        return detect(List.of(features), List.of(ImageMetas.ofSizes(sizes))).list();
    }

    @Override
    public List<Instances> toInstances(NDList arrays, List<ImageInfo> images) {
        return Detections.of(arrays).toInstances(images);
    }

    /** Returns the detections in all views, in the coordinates of the original images. */
    final Detections detect(List<FeaturePyramid> views, List<ImageMetas> metas) {
        List<Candidates> candidates = new ArrayList<>();
        for (int v = 0; v < views.size(); v++) {
            ImageMetas view = metas.get(v);
            Candidates found =
                    candidates(maps(views.get(v), UnaryOperator.identity()), view, nmsPre());
            candidates.add(found.mapBoxes(view::toOriginal));
        }
        return select(Candidates.concat(candidates));
    }

    /**
     * Returns the top-scoring anchors of every level, decoded and clipped, in input coordinates.
     */
    final Candidates candidates(List<NDList> maps, ImageMetas metas, int nmsPre) {
        TopAnchors top = top(maps, nmsPre);
        NDArray boxes = settings.bboxCoder().decode(top.anchors(), top.deltas());
        return new Candidates(new ScoredBoxes(metas.clip(boxes), top.scores()), top.perLevel());
    }

    private TopAnchors top(List<NDList> maps, int nmsPre) {
        if (ranksByLogits()
                && settings.lossCls().useSigmoid()
                && !Tracer.isRecording()
                && Kernels.isFusedForInferenceOnCpu(maps.get(0).get(0))
                && anchorGenerator.hasFeatureStrides(sizes(maps))) {
            return TopAnchors.of(maps, anchorGenerator, clsOutChannels(), nmsPre);
        }
        AnchorGrid grid = grid(maps);
        List<NDList> levels = new ArrayList<>();
        for (int l = 0; l < maps.size(); l++) {
            NDList level = maps.get(l);
            NDArray anchors = grid.anchors(l);
            // Frees the scores of a level before the next level is computed.
            levels.add(Scope.list(() -> top(toFloat32(level), anchors, nmsPre)));
        }
        return TopAnchors.concat(levels);
    }

    /**
     * Returns whether the anchors with the highest class logits are the best, so that a fused
     * operator selects them instead of {@link #scores} and {@link #top}.
     */
    protected boolean ranksByLogits() {
        return false;
    }

    /**
     * Returns the {@code nmsPre} anchors of a level with the highest best-class scores.
     *
     * @return {@code [N, R, C]} scores, {@code [N, R, 4]} bbox deltas and {@code [N, R, 4]} corners
     */
    protected NDList top(NDList maps, NDArray anchors, int nmsPre) {
        return TopAnchors.ofLevel(scores(maps), rows(maps.get(1), 4), anchors, nmsPre);
    }
}

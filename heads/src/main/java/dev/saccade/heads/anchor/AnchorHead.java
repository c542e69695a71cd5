package dev.saccade.heads.anchor;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.nn.SampleRandom;
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
import dev.saccade.heads.box.Assigner;
import dev.saccade.heads.box.Assignment;
import dev.saccade.heads.box.BoxCoder;
import dev.saccade.heads.box.BoxRegression;
import dev.saccade.heads.box.Sampler;
import dev.saccade.heads.box.SamplingResult;
import dev.saccade.heads.box.ScoredBoxes;
import dev.saccade.heads.loss.BoxLoss;
import dev.saccade.heads.loss.ClassificationLoss;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A head that scores and regresses anchors, as mmdetection's of the same name: it lays them out,
 * says what each should learn, computes the losses and decodes what is predicted.
 *
 * <p>A subclass adds layers and says what they make of a level ({@link #forward(NDArray)}) and how
 * objects are selected ({@link #bboxPostProcess}). Where it learns or scores in another way, it
 * overrides {@link #levelLosses}, {@link #avgFactor}, {@link #targets} or {@link #scores}.
 */
public abstract class AnchorHead extends DetectionHead {

    /** What the config of every head of anchors says; a record has most of it as components. */
    public interface Config {

        /**
         * Returns the anchors.
         *
         * @param strides of the levels of the pyramid, in pixels
         */
        AnchorGenerator anchorGenerator(List<Integer> strides);

        /** Returns the loss of the classes. */
        ClassificationLoss lossCls();

        /** Returns the loss of the boxes. */
        BoxLoss lossBbox();

        /** Returns whether that loss looks at boxes rather than at bbox deltas. */
        boolean regDecodedBbox();

        /** Returns what encodes boxes as bbox deltas. */
        BoxCoder bboxCoder();

        /** Returns which anchor learns what. */
        Assigner assigner();

        /** Returns which anchors are trained. */
        Sampler sampler();

        /**
         * Returns how many pixels an anchor that is trained may reach out of the image; negative
         * for no such limit.
         */
        default double allowedBorder() {
            return -1;
        }

        /** Returns how many anchors of a level, those of the highest scores, are looked at. */
        int nmsPre();
    }

    private static final Script SIGMOID =
            Script.compile("(logits: Tensor) -> Tensor", "return torch.sigmoid(logits)");

    private static final Script SOFTMAX =
            Script.compile(
                    "(logits: Tensor) -> Tensor",
                    "return torch.slice(torch.softmax(logits, 1), 1, 0, -1)");

    /** The anchors whose best class has the highest scores. */
    private static final Script TOP =
            Script.compile(
                    "(scores: Tensor, deltas: Tensor, count: Tensor)"
                            + " -> Tuple[Tensor, Tensor, Tensor]",
                    """
                    best = torch.amax(scores, [1], False)
                    _0, top = torch.topk(best, int(count), 0, True, True)
                    return (torch.index_select(scores, 0, top), torch.index_select(deltas, 0, top), top)
                    """);

    private final Config config;
    private final int numClasses;
    private final AnchorGenerator anchorGenerator;
    private final BoxRegression regression;

    /**
     * Makes the anchors; the layers are the subclass's.
     *
     * @param numClasses C, background not counted
     */
    protected AnchorHead(Config config, List<FeatureInfo> features, int numClasses) {
        checkArgument(numClasses > 0, "num_classes: got %s, expected > 0", numClasses);
        this.config = config;
        this.numClasses = numClasses;
        anchorGenerator =
                config.anchorGenerator(features.stream().map(FeatureInfo::stride).toList());
        regression =
                new BoxRegression(config.bboxCoder(), config.lossBbox(), config.regDecodedBbox());
    }

    /** Returns C, background not counted. */
    protected final int numClasses() {
        return numClasses;
    }

    /** Returns the number of logits of an anchor, K: C, or one more with a softmax. */
    protected final int clsOutChannels() {
        return config.lossCls().outChannels(numClasses);
    }

    /** Returns the number of anchors in a cell, A. */
    protected final int anchorsPerCell() {
        return anchorGenerator.anchorsPerCell();
    }

    /**
     * Returns what the layers make of one level.
     *
     * @param level {@code [N, channels, H, W]}
     */
    protected abstract LevelMaps forward(NDArray level);

    /** Returns the maps of every level. */
    public final List<LevelMaps> forward(FeaturePyramid features) {
        return features.levels().stream()
                .map(level -> LevelMaps.of(Scope.list(() -> forward(level).list())))
                .collect(ImmutableList.toImmutableList());
    }

    @Override
    public final NDList call(NDList inputs) {
        NDList maps = new NDList();
        forward(new FeaturePyramid(inputs)).forEach(level -> maps.addAll(level.list()));
        return maps;
    }

    /** Returns the anchors that lie under the cells of maps. */
    public final AnchorGrid grid(List<LevelMaps> maps) {
        return new AnchorGrid(anchorGenerator, maps.stream().map(LevelMaps::grid).toList());
    }

    /**
     * {@inheritDoc}
     *
     * @return the terms of {@link #levelLosses}, summed over the levels, each over its {@link
     *     #avgFactor}
     */
    @Override
    public final Losses losses(
            FeaturePyramid features, List<ImageInfo> images, List<Instances> targets) {
        return Scope.losses(() -> losses(forward(features), images, targets));
    }

    /** Returns the losses of maps that there are already. */
    public final Losses losses(
            List<LevelMaps> maps, List<ImageInfo> images, List<Instances> objects) {
        AnchorTargets targets = targets(grid(maps), images, objects);
        return Scope.losses(
                () -> {
                    Map<String, NDArray> sums = new LinkedHashMap<>();
                    for (int l = 0; l < maps.size(); l++) {
                        levelLosses(maps.get(l), targets.levels().get(l))
                                .forEach((term, sum) -> sums.merge(term, sum, NDArray::add));
                    }
                    sums.replaceAll(
                            (term, sum) ->
                                    sum.div(
                                            Tensors.of(
                                                    sum.getManager(), avgFactor(term, targets))));
                    return new Losses(sums);
                });
    }

    /**
     * Returns the sums of the losses over the anchors of one level of a batch: {@code loss_cls} and
     * {@code loss_bbox}.
     */
    protected Map<String, NDArray> levelLosses(LevelMaps maps, AnchorTargets.Level targets) {
        float[] ones = new float[targets.positives().length];
        Arrays.fill(ones, 1);
        return ImmutableMap.of(
                "loss_cls", clsLoss(maps, targets), "loss_bbox", bboxLoss(maps, targets, ones));
    }

    /**
     * Returns the sum of the loss of the classes over all anchors of one level that are trained.
     */
    protected final NDArray clsLoss(LevelMaps maps, AnchorTargets.Level targets) {
        NDManager manager = maps.cls().getManager();
        Shape anchors = new Shape(targets.labels().length);
        return Losses.requireScalar(
                "loss_cls " + config.lossCls().type(),
                config.lossCls()
                        .sum(
                                LevelMaps.perAnchor(maps.cls(), clsOutChannels()),
                                Tensors.of(manager, targets.labels(), anchors),
                                Tensors.of(manager, targets.labelWeights(), anchors)));
    }

    /**
     * Returns the sum of the loss of the boxes over the positive anchors of one level.
     *
     * @param weights {@code [P]} of these anchors
     */
    protected final NDArray bboxLoss(
            LevelMaps maps, AnchorTargets.Level targets, float... weights) {
        NDArray deltas = LevelMaps.perAnchor(maps.reg(), 4, targets.positives());
        return regression.sum(deltas, targets.anchors(), targets.boxes(), weights);
    }

    /** Returns what the sum of a loss term over all levels is divided by. */
    protected float avgFactor(String term, AnchorTargets targets) {
        return targets.avgFactor();
    }

    /** Returns what each anchor of a batch should learn. */
    protected AnchorTargets targets(
            AnchorGrid grid, List<ImageInfo> images, List<Instances> objects) {
        AnchorTargets.Builder targets = new AnchorTargets.Builder(grid, images.size(), numClasses);
        for (int n = 0; n < images.size(); n++) {
            Instances learned = objects.get(n).withArea();
            int[] inside = grid.inside(images.get(n), config.allowedBorder());
            Assignment assignment = Assignment.by(config.assigner(), grid.priors(inside), learned);
            SamplingResult sampled =
                    SamplingResult.by(config.sampler(), assignment, SampleRandom.of(n, path()));
            targets.add(
                    gather(inside, sampled.posInds()),
                    learned.select(assignment.objects(sampled.posInds())),
                    gather(inside, sampled.negInds()),
                    sampled.avgFactor());
        }
        return targets.build();
    }

    private static int[] gather(int[] values, int[] positions) {
        return Arrays.stream(positions).map(i -> values[i]).toArray();
    }

    /**
     * Returns the probabilities of the classes of the anchors of one level of one image.
     *
     * @return {@code [H * W * A, C]}
     */
    protected NDArray scores(LevelMaps maps) {
        NDArray logits = LevelMaps.perAnchor(maps.cls(), clsOutChannels());
        return (config.lossCls().useSigmoid() ? SIGMOID : SOFTMAX).run(logits);
    }

    /**
     * Returns what an image shows.
     *
     * @param candidates the best anchors of each level
     * @return best first
     */
    protected abstract Instances bboxPostProcess(List<ScoredBoxes> candidates);

    @Override
    public List<Instances> predict(FeaturePyramid features, List<ImageInfo> images) {
        return rescaledCandidates(features, images).stream()
                .map(this::bboxPostProcess)
                .collect(ImmutableList.toImmutableList());
    }

    /**
     * {@inheritDoc}
     *
     * <p>As in mmdetection, the boxes of all views compete with one another.
     */
    @Override
    public Instances predictViews(List<FeaturePyramid> views, List<ImageInfo> images) {
        List<ScoredBoxes> all = new ArrayList<>();
        for (int v = 0; v < views.size(); v++) {
            all.addAll(rescaledCandidates(views.get(v), List.of(images.get(v))).get(0));
        }
        return bboxPostProcess(all);
    }

    /** Returns the best anchors of every level, in the coordinates of the original images. */
    private List<List<ScoredBoxes>> rescaledCandidates(
            FeaturePyramid features, List<ImageInfo> images) {
        List<List<ScoredBoxes>> candidates = new ArrayList<>();
        NoGrad.run(
                () ->
                        Scope.run(
                                () ->
                                        candidates.addAll(
                                                candidates(
                                                        forward(features),
                                                        images,
                                                        config.nmsPre()))));
        for (int n = 0; n < images.size(); n++) {
            ImageInfo image = images.get(n);
            candidates.set(
                    n,
                    candidates.get(n).stream()
                            .map(level -> level.mapBoxes(image::toOriginal))
                            .toList());
        }
        return candidates;
    }

    /**
     * Returns the best anchors of every level of each image, decoded and clipped to the image, in
     * the coordinates of the network input.
     *
     * @param nmsPre so many anchors of a level, those of the highest scores
     */
    protected final List<List<ScoredBoxes>> candidates(
            List<LevelMaps> maps, List<ImageInfo> images, int nmsPre) {
        AnchorGrid grid = grid(maps);
        List<List<ScoredBoxes>> candidates = new ArrayList<>();
        for (int n = 0; n < images.size(); n++) {
            ImmutableList.Builder<ScoredBoxes> levels = ImmutableList.builder();
            for (int l = 0; l < maps.size(); l++) {
                NDList top = top(maps.get(l).ofImage(n), nmsPre);
                int start = grid.start(l);
                int[] positions =
                        Arrays.stream(top.get(2).toLongArray())
                                .mapToInt(i -> start + (int) i)
                                .toArray();
                Boxes boxes =
                        config.bboxCoder()
                                .decode(
                                        grid.anchors().select(positions),
                                        top.get(1).toFloatArray());
                levels.add(
                        new ScoredBoxes(
                                boxes.clip(images.get(n).size()), top.get(0).toFloatArray()));
            }
            candidates.add(levels.build());
        }
        return candidates;
    }

    /** Returns scores, deltas and positions of the best anchors of one level of one image. */
    private NDList top(LevelMaps maps, int nmsPre) {
        return Scope.list(
                () -> {
                    NDArray scores = scores(maps);
                    int count = (int) Math.min(nmsPre, scores.getShape().get(0));
                    return TOP.runAll(
                            scores,
                            LevelMaps.perAnchor(maps.reg(), 4),
                            scores.getManager().create(count));
                });
    }
}

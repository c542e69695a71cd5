package dev.saccade.heads.anchor;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.nn.SampleRandom;
import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;
import dev.saccade.core.ops.script.Tracer;
import dev.saccade.core.parts.DetectionHead;
import dev.saccade.core.parts.FeatureInfo;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.heads.box.Assigner;
import dev.saccade.heads.box.Assignment;
import dev.saccade.heads.box.BoxCoder;
import dev.saccade.heads.box.BoxRegression;
import dev.saccade.heads.box.Detections;
import dev.saccade.heads.box.GtInstances;
import dev.saccade.heads.box.ImageFrames;
import dev.saccade.heads.box.Priors;
import dev.saccade.heads.box.Sampler;
import dev.saccade.heads.box.SamplingResult;
import dev.saccade.heads.box.ScoredBoxes;
import dev.saccade.heads.loss.BoxLoss;
import dev.saccade.heads.loss.ClassificationLoss;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/**
 * A head that scores and regresses anchors, as mmdetection's of the same name: it lays them out,
 * says what each should learn, computes the losses and decodes what is predicted.
 *
 * <p>A subclass adds layers and says what they make of a level ({@link #forward(NDArray, int)}) and
 * how objects are selected ({@link #bboxPostProcess}). Where it learns or scores in another way, it
 * overrides {@link #levelLosses}, {@link #avgFactor}, {@link #targets}, {@link #scores} or {@link
 * #top}.
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

    /**
     * Scores, deltas and corners of the anchors whose best class has the highest scores. Padded
     * ones are as many whatever the size of the level.
     */
    private static final ScriptTemplate TOP =
            ScriptTemplate.of(
                    "(scores: Tensor, deltas: Tensor, anchors: Tensor)"
                            + " -> Tuple[Tensor, Tensor, Tensor]",
                    """
                    n = torch.size(anchors, 0)
                    c = torch.size(scores, 1)
                    score = torch.reshape(scores, [-1, n, c])
                    delta = torch.reshape(deltas, [-1, n, 4])
                    if {padded}:
                      none = torch.log(torch.zeros([torch.size(score, 0), {nms_pre}, c], dtype=6, device=score.device))
                      score = torch.cat([score, none], 1)
                      delta = torch.constant_pad_nd(delta, [0, 0, 0, {nms_pre}])
                      anchors = torch.constant_pad_nd(anchors, [0, 0, 0, {nms_pre}])
                      n = n + {nms_pre}
                    best = torch.amax(score, [2], False)
                    count = {nms_pre}
                    if count > n:
                      count = n
                    _0, top = torch.topk(best, count, 1, True, True)
                    column = torch.unsqueeze(top, 2)
                    score = torch.gather(score, 1, torch.expand(column, [-1, -1, c]))
                    delta = torch.gather(delta, 1, torch.expand(column, [-1, -1, 4]))
                    anchor = torch.index_select(anchors, 0, torch.reshape(top, [-1]))
                    return (score, delta, torch.reshape(anchor, torch.size(delta)))
                    """);

    private final Config config;
    private final int numClasses;
    private final AnchorGenerator anchorGenerator;
    private final BoxRegression regression;

    /**
     * Makes the anchors; the layers are the subclass's.
     *
     * @param numClasses C, background not counted
     * @throws IllegalArgumentException if the levels differ in channels, since one convolution
     *     looks at all of them
     */
    protected AnchorHead(Config config, List<FeatureInfo> features, int numClasses) {
        checkArgument(numClasses > 0, "num_classes: got %s, expected > 0", numClasses);
        List<Integer> channels = features.stream().map(FeatureInfo::channels).toList();
        checkArgument(
                channels.stream().distinct().count() == 1,
                "got levels of %s channels, expected as many in each, as behind an fpn:"
                        + " model.neck={type: fpn}",
                channels);
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
     * @param map {@code [N, channels, H, W]}
     * @param level its position in the pyramid, for layers that are not shared by all levels
     */
    protected abstract LevelMaps forward(NDArray map, int level);

    /** Returns what convolutions make of a map, one after the other. */
    protected static NDArray stacked(List<ConvModule> convs, NDArray map) {
        return Scope.chain(map, convs.stream().<UnaryOperator<NDArray>>map(conv -> conv).toList());
    }

    /** Returns the maps of every level. */
    public final List<LevelMaps> forward(FeaturePyramid features) {
        return IntStream.range(0, features.size())
                .mapToObj(l -> LevelMaps.of(Scope.list(() -> forward(features.get(l), l).list())))
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
        return new AnchorGrid(
                maps.get(0).cls().getManager(),
                anchorGenerator,
                maps.stream().map(LevelMaps::grid).toList());
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
        return Scope.losses(
                () -> {
                    List<LevelMaps> maps = forward(features);
                    NDManager manager = maps.get(0).cls().getManager();
                    return losses(maps, images, GtInstances.of(manager, targets));
                });
    }

    /** Returns the losses of maps that there are already. */
    public final Losses losses(
            List<LevelMaps> maps, List<ImageInfo> images, List<GtInstances> objects) {
        return Autocast.off(() -> Scope.losses(() -> lossesInFloat32(maps, images, objects)));
    }

    private Losses lossesInFloat32(
            List<LevelMaps> maps, List<ImageInfo> images, List<GtInstances> objects) {
        AnchorTargets targets = targets(grid(maps), images, objects);
        Map<String, NDArray> sums = new LinkedHashMap<>();
        for (int l = 0; l < maps.size(); l++) {
            levelLosses(maps.get(l), targets.levels().get(l))
                    .forEach((term, sum) -> sums.merge(term, sum, NDArray::add));
        }
        sums.replaceAll((term, sum) -> sum.div(avgFactor(term, targets)));
        return new Losses(sums);
    }

    /**
     * Returns the sums of the losses over the anchors of one level of a batch: {@code loss_cls} and
     * {@code loss_bbox}.
     */
    protected Map<String, NDArray> levelLosses(LevelMaps maps, AnchorTargets.Level targets) {
        NDArray weights = targets.positives().weights();
        return ImmutableMap.of(
                "loss_cls", clsLoss(maps, targets), "loss_bbox", bboxLoss(maps, targets, weights));
    }

    /**
     * Returns the sum of the loss of the classes over all anchors of one level that are trained.
     */
    protected final NDArray clsLoss(LevelMaps maps, AnchorTargets.Level targets) {
        return Losses.requireScalar(
                "loss_cls " + config.lossCls().type(),
                config.lossCls()
                        .sum(
                                LevelMaps.perAnchor(maps.cls(), clsOutChannels()),
                                targets.labels(),
                                targets.labelWeights()));
    }

    /**
     * Returns the sum of the loss of the boxes over the positive anchors of one level.
     *
     * @param weights {@code [P]} of these anchors, 0 for fillers
     */
    protected final NDArray bboxLoss(LevelMaps maps, AnchorTargets.Level targets, NDArray weights) {
        NDArray deltas = LevelMaps.perAnchor(maps.reg(), 4, targets.positives());
        return regression.sum(deltas, targets.anchors(), targets.boxes(), weights);
    }

    /** Returns what the sum of a loss term over all levels is divided by, a scalar. */
    public NDArray avgFactor(String term, AnchorTargets targets) {
        return targets.avgFactor();
    }

    /** Returns what each anchor of a batch should learn. */
    public AnchorTargets targets(
            AnchorGrid grid, List<ImageInfo> images, List<GtInstances> objects) {
        List<AnchorTargets.OfImage> learned = new ArrayList<>();
        for (int n = 0; n < images.size(); n++) {
            Optional<AnchorGrid.Inside> inside = grid.inside(images.get(n), config.allowedBorder());
            Priors priors = inside.map(AnchorGrid.Inside::priors).orElseGet(grid::priors);
            Assignment assignment = Assignment.by(config.assigner(), priors, objects.get(n));
            SamplingResult sampled =
                    SamplingResult.by(config.sampler(), assignment, SampleRandom.of(n, path()));
            learned.add(
                    AnchorTargets.OfImage.of(
                            assignment.gtInds(), sampled, objects.get(n), grid, inside));
        }
        return AnchorTargets.join(grid, learned, numClasses);
    }

    /**
     * Returns the probabilities of the classes of the anchors of one level.
     *
     * @return {@code [N * H * W * A, C]}
     */
    protected NDArray scores(LevelMaps maps) {
        NDArray logits = LevelMaps.perAnchor(maps.cls(), clsOutChannels());
        return (config.lossCls().useSigmoid() ? SIGMOID : SOFTMAX).run(logits);
    }

    /**
     * Returns what the images of a batch show.
     *
     * @param candidates the best anchors of each level
     */
    protected abstract Detections bboxPostProcess(List<ScoredBoxes> candidates);

    @Override
    public List<Instances> predict(FeaturePyramid features, List<ImageInfo> images) {
        return found(() -> rescaledCandidates(features, images));
    }

    /**
     * {@inheritDoc}
     *
     * <p>As in mmdetection, the boxes of all views compete with one another.
     */
    @Override
    public Instances predictViews(List<FeaturePyramid> views, List<ImageInfo> images) {
        return found(
                        () -> {
                            List<ScoredBoxes> all = new ArrayList<>();
                            for (int v = 0; v < views.size(); v++) {
                                List<ImageInfo> image = List.of(images.get(v));
                                all.addAll(rescaledCandidates(views.get(v), image));
                            }
                            return all;
                        })
                .get(0);
    }

    @Override
    public NDList detect(FeaturePyramid features, NDArray sizes) {
        ImageFrames frames = ImageFrames.ofSizes(sizes);
        return bboxPostProcess(candidates(forward(features), frames, config.nmsPre())).list();
    }

    @Override
    public List<Instances> objects(NDList detected, List<ImageInfo> images) {
        return Detections.of(detected).toInstances(images);
    }

    private List<Instances> found(Supplier<List<ScoredBoxes>> candidates) {
        return NoGrad.call(() -> Scope.call(() -> bboxPostProcess(candidates.get()).toInstances()));
    }

    /** Returns the best anchors of every level, in the coordinates of the original images. */
    private List<ScoredBoxes> rescaledCandidates(FeaturePyramid features, List<ImageInfo> images) {
        List<LevelMaps> maps = forward(features);
        ImageFrames frames = frames(maps, images);
        return candidates(maps, frames, config.nmsPre()).stream()
                .map(level -> level.mapBoxes(frames::toOriginal))
                .toList();
    }

    /** Returns the coordinates of images where their maps are. */
    static ImageFrames frames(List<LevelMaps> maps, List<ImageInfo> images) {
        return ImageFrames.of(maps.get(0).cls().getManager(), images);
    }

    /**
     * Returns the best anchors of every level, decoded and clipped to their images, in the
     * coordinates of the network input.
     *
     * @param nmsPre so many anchors of a level of an image, those of the highest scores
     */
    protected final List<ScoredBoxes> candidates(
            List<LevelMaps> maps, ImageFrames frames, int nmsPre) {
        AnchorGrid grid = grid(maps);
        ImmutableList.Builder<ScoredBoxes> levels = ImmutableList.builder();
        for (int l = 0; l < maps.size(); l++) {
            LevelMaps level = maps.get(l);
            NDArray anchors = grid.anchors(l);
            NDList top = Scope.list(() -> top(level, anchors, nmsPre));
            NDArray boxes = config.bboxCoder().decode(top.get(2), top.get(1));
            levels.add(new ScoredBoxes(frames.clip(boxes), top.get(0)));
        }
        return levels.build();
    }

    /**
     * Returns the anchors of a level that are looked at: those whose best class has the highest
     * scores.
     *
     * @param anchors {@code [H * W * A, 4]} all of them
     * @param nmsPre so many of each image, unless there are fewer
     * @return {@code [N, R, C]} scores, {@code [N, R, 4]} bbox deltas and {@code [N, R, 4]} corners
     */
    protected NDList top(LevelMaps maps, NDArray anchors, int nmsPre) {
        return TOP.with(Map.of("nms_pre", nmsPre, "padded", Tracer.isRecording()))
                .runAll(scores(maps), LevelMaps.perAnchor(maps.reg(), 4), anchors);
    }
}

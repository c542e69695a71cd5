package dev.saccade.heads;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.primitives.Floats;

import dev.saccade.core.Checks;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.nn.WeightInit;
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
import dev.saccade.core.structures.Size;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * RetinaNet's head (Lin et al. 2017) as in mmdetection: two towers of convolutions, shared by all
 * levels, that score and move every anchor.
 */
public final class RetinaNetHead extends DetectionHead {

    /**
     * The hyper-parameters of a RetinaNet head.
     *
     * @param featChannels width of the towers
     * @param stackedConvs length of the towers
     * @param octaveBaseScale size of the smallest anchor in strides
     * @param scalesPerOctave number of anchor sizes
     * @param ratios height over width of the anchors
     * @param centerOffset where in its cell an anchor is centred, in strides from the top-left
     *     corner; 0 in mmdetection's recipes, 0.5 for the middle
     * @param focalGamma how fast easy anchors fade
     * @param focalAlpha weight of the labelled class against all others
     * @param assigner which anchor learns what
     * @param bboxCoder how boxes are written
     * @param nmsPre so many anchors of a level, those of the highest scores, are looked at
     * @param nms how objects are selected
     */
    public record Config(
            int featChannels,
            int stackedConvs,
            double octaveBaseScale,
            int scalesPerOctave,
            List<Double> ratios,
            double centerOffset,
            double focalGamma,
            double focalAlpha,
            MaxIouAssigner assigner,
            BoxCoder bboxCoder,
            int nmsPre,
            MulticlassNms nms)
            implements DetectionHead.Config {

        /** The head of the paper. */
        public Config() {
            this(
                    256,
                    4,
                    4,
                    3,
                    List.of(0.5, 1.0, 2.0),
                    0,
                    2,
                    0.25,
                    new MaxIouAssigner(),
                    new BoxCoder(),
                    1000,
                    new MulticlassNms());
        }

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
                    .within("focal_gamma", focalGamma, 0, 100)
                    .within("focal_alpha", focalAlpha, 0, 1)
                    .within("nms_pre", nmsPre, 1, 100_000_000)
                    .throwIfAny();
            AnchorGenerator.check("ratios", scalesPerOctave, ratios.size());
        }

        @Override
        public String type() {
            return "retinanet";
        }

        @Override
        public CheckpointRules checkpointRules() {
            return RetinaNetCheckpoints.RULES;
        }

        @Override
        public RetinaNetHead build(List<FeatureInfo> features, int numClasses) {
            return new RetinaNetHead(this, features, numClasses);
        }
    }

    /** Probability that an untrained head gives to an object. */
    private static final double PRIOR = 0.01;

    private static final Script PER_ANCHOR =
            Script.compile(
                    "(map: Tensor, columns: Tensor) -> Tensor",
                    """
                    c = int(columns)
                    return torch.reshape(torch.permute(map, [0, 2, 3, 1]), [-1, c])
                    """);

    private static final Script TOP =
            Script.compile(
                    "(logits: Tensor, deltas: Tensor, count: Tensor)"
                            + " -> Tuple[Tensor, Tensor, Tensor]",
                    """
                    scores = torch.sigmoid(logits)
                    best = torch.amax(scores, [1], False)
                    _0, top = torch.topk(best, int(count), 0, True, True)
                    return (torch.index_select(scores, 0, top), torch.index_select(deltas, 0, top), top)
                    """);

    private final Config config;
    private final int numClasses;
    private final AnchorGenerator anchorGenerator;
    private final FocalLoss focalLoss;
    private final List<ConvModule> clsConvs = new ArrayList<>();
    private final List<ConvModule> regConvs = new ArrayList<>();
    private final Conv2d retinaCls;
    private final Conv2d retinaReg;

    /** Makes a head without weights. */
    public RetinaNetHead(Config config, List<FeatureInfo> features, int numClasses) {
        checkArgument(numClasses > 0, "num_classes: got %s, expected > 0", numClasses);
        this.config = config;
        this.numClasses = numClasses;
        this.focalLoss = new FocalLoss(config.focalGamma(), config.focalAlpha());
        this.anchorGenerator =
                new AnchorGenerator(
                        AnchorGenerator.octaveScales(
                                config.octaveBaseScale(), config.scalesPerOctave()),
                        config.ratios(),
                        config.centerOffset(),
                        features.stream().map(FeatureInfo::stride).toList());
        WeightInit init = WeightInit.normal(0.01);
        int width = config.featChannels();
        for (int i = 0; i < config.stackedConvs(); i++) {
            int in = i == 0 ? features.get(0).channels() : width;
            clsConvs.add(
                    add("bbox_head.cls_convs." + i, ConvModule.relu(in, width, 3, 1, 1, init)));
            regConvs.add(
                    add("bbox_head.reg_convs." + i, ConvModule.relu(in, width, 3, 1, 1, init)));
        }
        int in = config.stackedConvs() == 0 ? features.get(0).channels() : width;
        int anchors = anchorGenerator.anchorsPerCell();
        WeightInit prior = WeightInit.constant((float) -Math.log((1 - PRIOR) / PRIOR));
        retinaCls =
                add(
                        "bbox_head.retina_cls",
                        new Conv2d(in, anchors * numClasses, 3, 1, 1, init, prior));
        retinaReg = add("bbox_head.retina_reg", new Conv2d(in, anchors * 4, 3, 1, 1, init));
    }

    /**
     * What the towers say of one level.
     *
     * @param cls {@code [N, A * C, H, W]} logits
     * @param reg {@code [N, A * 4, H, W]} box changes
     */
    public record Maps(NDArray cls, NDArray reg) {

        Size grid() {
            Shape shape = cls.getShape();
            return new Size((int) shape.get(2), (int) shape.get(3));
        }
    }

    /** Returns the maps of every level. */
    public List<Maps> forward(FeaturePyramid features) {
        return features.levels().stream()
                .map(
                        level ->
                                new Maps(
                                        tower(clsConvs, retinaCls, level),
                                        tower(regConvs, retinaReg, level)))
                .collect(ImmutableList.toImmutableList());
    }

    private static NDArray tower(List<ConvModule> convs, Conv2d last, NDArray level) {
        return Scope.array(
                () -> {
                    NDArray x = level;
                    for (ConvModule conv : convs) {
                        x = conv.forward(x);
                    }
                    return last.forward(x);
                });
    }

    @Override
    public NDList call(NDList inputs) {
        NDList maps = new NDList();
        forward(new FeaturePyramid(inputs))
                .forEach(
                        level -> {
                            maps.add(level.cls());
                            maps.add(level.reg());
                        });
        return maps;
    }

    /**
     * {@inheritDoc}
     *
     * @return {@code loss_cls} and {@code loss_bbox}, each over the number of positive anchors, at
     *     least 1 for every image
     */
    @Override
    public Losses losses(FeaturePyramid features, List<ImageInfo> images, List<Instances> targets) {
        List<Maps> maps = forward(features);
        RetinaNetTargets learned =
                RetinaNetTargets.of(
                        grid(maps),
                        config.assigner(),
                        config.bboxCoder(),
                        images,
                        targets,
                        numClasses);
        NDManager manager = features.get(0).getManager();
        NDList sums =
                Scope.list(
                        () -> {
                            NDArray cls = Tensors.of(manager, 0);
                            NDArray box = Tensors.of(manager, 0);
                            for (int l = 0; l < maps.size(); l++) {
                                RetinaNetTargets.Level level = learned.levels().get(l);
                                cls = cls.add(clsLoss(maps.get(l).cls(), level, manager));
                                box = box.add(boxLoss(maps.get(l).reg(), level, manager));
                            }
                            NDArray positives = Tensors.of(manager, learned.positives());
                            return new NDList(cls.div(positives), box.div(positives));
                        });
        return new Losses(ImmutableMap.of("loss_cls", sums.get(0), "loss_bbox", sums.get(1)));
    }

    private NDArray clsLoss(NDArray map, RetinaNetTargets.Level level, NDManager manager) {
        return focalLoss.sum(
                perAnchor(map, numClasses),
                Tensors.of(manager, level.labels(), new Shape(level.labels().length)),
                Tensors.of(manager, level.weights(), new Shape(level.weights().length)));
    }

    private NDArray boxLoss(NDArray map, RetinaNetTargets.Level level, NDManager manager) {
        int positives = level.positives().length;
        Shape shape = new Shape(positives, 4);
        NDArray chosen =
                perAnchor(map, 4).get(Tensors.of(manager, level.positives(), new Shape(positives)));
        return BoxLosses.l1(
                chosen, Tensors.of(manager, level.deltas(), shape), manager.ones(shape));
    }

    private static NDArray perAnchor(NDArray map, int columns) {
        return PER_ANCHOR.run(map, map.getManager().create(columns));
    }

    @Override
    public List<Instances> predict(FeaturePyramid features, List<ImageInfo> images) {
        return candidates(features, images).stream()
                .map(each -> config.nms().apply(each.boxes(), each.scores(), numClasses))
                .map(MulticlassNms.Kept::instances)
                .collect(ImmutableList.toImmutableList());
    }

    /**
     * {@inheritDoc}
     *
     * <p>As in mmdetection, the boxes of all views compete with one another.
     */
    @Override
    public Instances predictViews(List<FeaturePyramid> views, List<ImageInfo> images) {
        List<Boxes> boxes = new ArrayList<>();
        List<float[]> scores = new ArrayList<>();
        for (int v = 0; v < views.size(); v++) {
            ScoredBoxes each = candidates(views.get(v), List.of(images.get(v))).get(0);
            boxes.add(each.boxes());
            scores.add(each.scores());
        }
        float[] all = Floats.concat(scores.toArray(float[][]::new));
        return config.nms().apply(Boxes.concat(boxes), all, numClasses).instances();
    }

    /** Returns the best anchors of every level, in the coordinates of the original images. */
    private List<ScoredBoxes> candidates(FeaturePyramid features, List<ImageInfo> images) {
        return NoGrad.call(
                () -> {
                    List<ScoredBoxes> candidates = new ArrayList<>();
                    Scope.run(
                            () -> {
                                List<Maps> maps = forward(features);
                                AnchorGrid grid = grid(maps);
                                for (int i = 0; i < images.size(); i++) {
                                    candidates.add(candidates(maps, grid, i, images.get(i)));
                                }
                            });
                    return ImmutableList.copyOf(candidates);
                });
    }

    private AnchorGrid grid(List<Maps> maps) {
        return new AnchorGrid(anchorGenerator, maps.stream().map(Maps::grid).toList());
    }

    private ScoredBoxes candidates(List<Maps> maps, AnchorGrid grid, int index, ImageInfo image) {
        List<Boxes> boxes = new ArrayList<>();
        float[][] scores = new float[maps.size()][];
        for (int l = 0; l < maps.size(); l++) {
            NDArray cls = perAnchor(maps.get(l).cls().get(index + ":" + (index + 1)), numClasses);
            NDArray reg = perAnchor(maps.get(l).reg().get(index + ":" + (index + 1)), 4);
            int count = (int) Math.min(config.nmsPre(), cls.getShape().get(0));
            NDList top = TOP.runAll(cls, reg, cls.getManager().create(count));
            scores[l] = top.get(0).toFloatArray();
            int start = grid.start(l);
            int[] positions =
                    Arrays.stream(top.get(2).toLongArray())
                            .mapToInt(i -> start + (int) i)
                            .toArray();
            Boxes anchors = grid.anchors().select(positions);
            float[] deltas = top.get(1).toFloatArray();
            boxes.add(image.toOriginal(config.bboxCoder().decode(anchors, deltas, image.size())));
        }
        return new ScoredBoxes(Boxes.concat(boxes), Floats.concat(scores));
    }
}

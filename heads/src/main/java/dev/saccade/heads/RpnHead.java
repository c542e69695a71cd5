package dev.saccade.heads;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.primitives.Ints;

import dev.saccade.core.Checks;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.SampleDraws;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Activations;
import dev.saccade.core.ops.NoGrad;
import dev.saccade.core.ops.Scope;
import dev.saccade.core.ops.ScriptTemplate;
import dev.saccade.core.ops.Tensors;
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
 * The region proposal network of Faster R-CNN (Ren et al. 2015) on a pyramid, as in mmdetection:
 * says of every anchor whether it shows an object, of whatever class, and moves it there.
 */
public final class RpnHead extends Module {

    /**
     * The hyper-parameters of a region proposal network.
     *
     * @param featChannels width of its hidden layer
     * @param scales anchor sizes in strides
     * @param ratios height over width of the anchors
     * @param centerOffset where in its cell an anchor is centred, in strides from the top-left
     *     corner; 0 in mmdetection's recipes, 0.5 for the middle
     * @param bboxCoder how boxes are written
     * @param lossBbox the loss of the boxes
     * @param regDecodedBbox whether that loss looks at boxes rather than at their changes
     * @param assigner which anchor learns what
     * @param sampler how many anchors are trained
     * @param allowedBorder anchors that reach further out of the image are not trained; negative
     *     for no such limit
     * @param trainProposals what the second stage is trained on
     * @param testProposals what the second stage sees in inference
     */
    public record Config(
            int featChannels,
            List<Double> scales,
            List<Double> ratios,
            double centerOffset,
            BoxCoder bboxCoder,
            BoxLoss lossBbox,
            boolean regDecodedBbox,
            MaxIouAssigner assigner,
            RandomSampler sampler,
            double allowedBorder,
            Proposals trainProposals,
            Proposals testProposals) {

        /** The network of Mask R-CNN in mmdetection. */
        public Config() {
            this(
                    256,
                    List.of(8.0),
                    List.of(0.5, 1.0, 2.0),
                    0,
                    new BoxCoder(),
                    new BoxLoss(),
                    false,
                    new MaxIouAssigner(0.7, 0.3, 0.3, true, true, -1, true),
                    new RandomSampler(256, 0.5, -1, false),
                    -1,
                    new Proposals(2000, 1000, 0.7, 0),
                    new Proposals());
        }

        /** Checks the values. */
        public Config {
            scales = ImmutableList.copyOf(scales);
            ratios = ImmutableList.copyOf(ratios);
            new Checks()
                    .within("feat_channels", featChannels, 1, 8192)
                    .size("scales", scales, 1, 100)
                    .each("scales", scales, 0.001, 1000)
                    .size("ratios", ratios, 1, 100)
                    .each("ratios", ratios, 0.001, 1000)
                    .within("center_offset", centerOffset, 0, 1)
                    .within("allowed_border", allowedBorder, -1, 1e6)
                    .throwIfAny();
            AnchorGenerator.check("ratios", scales.size(), ratios.size());
        }
    }

    /** Tells the draws of the sampler from those of all other layers. */
    private static final long DRAWS = 0x52504EL;

    /** Joins the maps of all levels: {@code [N, anchors, columns]}. */
    private static final ScriptTemplate PER_ANCHOR =
            ScriptTemplate.of(
                    "(maps: List[Tensor]) -> Tensor",
                    """
                    levels = annotate(List[Tensor], [])
                    for l in range(torch.len(maps)):
                      cells = torch.permute(maps[l], [0, 2, 3, 1])
                      anchors = torch.reshape(cells, [torch.size(cells, 0), -1, %1$s])
                      _0 = torch.append(levels, anchors)
                    return torch.cat(levels, 1)
                    """);

    /** The best anchors of one level: score and changes {@code [N, K, 5]}, positions. */
    private static final ScriptTemplate TOP =
            ScriptTemplate.of(
                    "(cls: Tensor, reg: Tensor) -> Tuple[Tensor, Tensor]",
                    """
                    n = torch.size(cls, 0)
                    scores = torch.sigmoid(torch.reshape(torch.permute(cls, [0, 2, 3, 1]), [n, -1]))
                    deltas = torch.reshape(torch.permute(reg, [0, 2, 3, 1]), [n, -1, 4])
                    count = torch.size(scores, 1)
                    if count > %1$s:
                      best, top = torch.topk(scores, %1$s, 1, True, True)
                    else:
                      best = scores
                      top = torch.expand(torch.arange(count, device=cls.device), [n, count])
                    rows = torch.expand(torch.unsqueeze(top, 2), [-1, -1, 4])
                    chosen = torch.gather(deltas, 1, rows)
                    return (torch.cat([torch.unsqueeze(best, 2), chosen], 2), top)
                    """);

    private final Config config;
    private final BoxRegression regression;
    private final AnchorGenerator anchorGenerator;
    private final Conv2d conv;
    private final Conv2d cls;
    private final Conv2d reg;

    /** Makes a network without weights. */
    RpnHead(Config config, List<FeatureInfo> features) {
        this.config = config;
        regression =
                new BoxRegression(config.bboxCoder(), config.lossBbox(), config.regDecodedBbox());
        anchorGenerator =
                new AnchorGenerator(
                        config.scales(),
                        config.ratios(),
                        config.centerOffset(),
                        features.stream().map(FeatureInfo::stride).toList());
        WeightInit init = WeightInit.normal(0.01);
        int width = config.featChannels();
        int anchors = anchorGenerator.anchorsPerCell();
        conv = add("rpn_conv", new Conv2d(features.get(0).channels(), width, 3, 1, 1, init));
        cls = add("rpn_cls", new Conv2d(width, anchors, 1, 1, 0, init));
        reg = add("rpn_reg", new Conv2d(width, anchors * 4, 1, 1, 0, init));
    }

    /**
     * What the network says.
     *
     * @param cls logit of every anchor, {@code [N, A, H, W]} each level
     * @param reg box changes, {@code [N, A * 4, H, W]} each level
     * @param grid the anchors
     */
    public record Output(List<NDArray> cls, List<NDArray> reg, AnchorGrid grid) {}

    /** Looks at every level. */
    public Output forward(FeaturePyramid features) {
        ImmutableList.Builder<NDArray> logits = ImmutableList.builder();
        ImmutableList.Builder<NDArray> deltas = ImmutableList.builder();
        ImmutableList.Builder<Size> grids = ImmutableList.builder();
        for (NDArray level : features.levels()) {
            NDList maps =
                    Scope.list(
                            () -> {
                                NDArray hidden = Activations.relu(conv.forward(level));
                                return new NDList(cls.forward(hidden), reg.forward(hidden));
                            });
            logits.add(maps.get(0));
            deltas.add(maps.get(1));
            Shape shape = level.getShape();
            grids.add(new Size((int) shape.get(2), (int) shape.get(3)));
        }
        return new Output(
                logits.build(), deltas.build(), new AnchorGrid(anchorGenerator, grids.build()));
    }

    @Override
    public NDList call(NDList inputs) {
        Output output = forward(new FeaturePyramid(inputs));
        return new NDList(output.cls()).addAll(new NDList(output.reg()));
    }

    /**
     * Returns {@code loss_rpn_cls} and {@code loss_rpn_bbox}, each over the number of anchors drawn
     * as positive and as negative, at least 1 of each for every image.
     *
     * @param objects of each image, boxes without area left out
     */
    Losses losses(Output output, List<ImageInfo> images, List<Instances> objects) {
        AnchorGrid grid = output.grid();
        List<int[]> positives = new ArrayList<>();
        List<int[]> negatives = new ArrayList<>();
        List<Boxes> anchors = new ArrayList<>();
        List<Boxes> targets = new ArrayList<>();
        int drawn = 0;
        for (int n = 0; n < images.size(); n++) {
            Boxes boxes = objects.get(n).boxes();
            Matches matches =
                    grid.match(images.get(n), config.allowedBorder(), config.assigner(), boxes)
                            .sample(config.sampler(), SampleDraws.of(n, DRAWS));
            int first = n * grid.anchors().size();
            positives.add(Arrays.stream(matches.positives()).map(i -> first + i).toArray());
            negatives.add(Arrays.stream(matches.negatives()).map(i -> first + i).toArray());
            anchors.add(grid.anchors().select(matches.positives()));
            targets.add(boxes.select(matches.objects()));
            drawn += Math.max(1, matches.positives().length);
            drawn += Math.max(1, matches.negatives().length);
        }
        int[] positive = Ints.concat(positives.toArray(int[][]::new));
        int[] negative = Ints.concat(negatives.toArray(int[][]::new));
        float normaliser = drawn;
        NDList sums =
                Scope.list(
                        () -> {
                            NDArray number =
                                    Tensors.of(output.cls().get(0).getManager(), normaliser);
                            NDArray deltas = select(output.reg(), 4, positive);
                            return new NDList(
                                    clsLoss(output.cls(), positive, negative).div(number),
                                    regression
                                            .sum(
                                                    deltas,
                                                    Boxes.concat(anchors),
                                                    Boxes.concat(targets))
                                            .div(number));
                        });
        return new Losses(
                ImmutableMap.of("loss_rpn_cls", sums.get(0), "loss_rpn_bbox", sums.get(1)));
    }

    private static NDArray clsLoss(List<NDArray> maps, int[] positive, int[] negative) {
        int[] trained = Ints.concat(positive, negative);
        int[] labels = new int[trained.length];
        Arrays.fill(labels, positive.length, labels.length, 1);
        NDManager manager = maps.get(0).getManager();
        Shape shape = new Shape(trained.length);
        return ClassificationLosses.sigmoid(
                select(maps, 1, trained), Tensors.of(manager, labels, shape), manager.ones(shape));
    }

    /** Returns the rows of some anchors of the batch, {@code [P, columns]}. */
    private static NDArray select(List<NDArray> maps, int columns, int[] anchors) {
        NDArray all = PER_ANCHOR.with(columns).runLists(List.of(maps)).singletonOrThrow();
        return all.reshape(-1, columns)
                .get(Tensors.of(all.getManager(), anchors, new Shape(anchors.length)));
    }

    /**
     * Returns the proposals of each image, best first; no gradient flows through them.
     *
     * @param training whether they are for training
     */
    List<Instances> proposals(Output output, List<ImageInfo> images, boolean training) {
        Proposals settings = training ? config.trainProposals() : config.testProposals();
        AnchorGrid grid = output.grid();
        int[] levels = levels(grid, settings.nmsPre());
        try (NDList best = NoGrad.call(() -> best(output, settings.nmsPre()))) {
            float[] rows = best.get(0).toFloatArray();
            long[] tops = best.get(1).toLongArray();
            ImmutableList.Builder<Instances> proposals = ImmutableList.builder();
            for (int n = 0; n < images.size(); n++) {
                int first = n * levels.length;
                int[] anchors = new int[levels.length];
                float[] scores = new float[levels.length];
                float[] deltas = new float[4 * levels.length];
                for (int i = 0; i < levels.length; i++) {
                    anchors[i] = grid.start(levels[i]) + (int) tops[first + i];
                    scores[i] = rows[5 * (first + i)];
                    System.arraycopy(rows, 5 * (first + i) + 1, deltas, 4 * i, 4);
                }
                Boxes boxes =
                        config.bboxCoder()
                                .decode(
                                        grid.anchors().select(anchors),
                                        deltas,
                                        images.get(n).size());
                proposals.add(settings.select(boxes, scores, levels));
            }
            return proposals.build();
        }
    }

    /**
     * Joins the proposals of several views of an image.
     *
     * @param views the proposals of each view, in common coordinates
     */
    Instances merge(List<Instances> views) {
        Proposals settings = config.testProposals();
        Boxes boxes = Boxes.concat(views.stream().map(Instances::boxes).toList());
        float[] scores = new float[boxes.size()];
        int at = 0;
        for (Instances view : views) {
            for (int i = 0; i < view.size(); i++) {
                scores[at++] = view.score(i);
            }
        }
        return new Proposals(settings.nmsPre(), settings.maxPerImg(), settings.iouThr(), 0)
                .select(boxes, scores, new int[at]);
    }

    /** Returns the best anchors of all levels: {@code [N, K, 5]} and {@code [N, K]}. */
    private static NDList best(Output output, int nmsPre) {
        return Scope.list(
                () -> {
                    NDList rows = new NDList();
                    NDList positions = new NDList();
                    for (int l = 0; l < output.cls().size(); l++) {
                        NDArray cls = output.cls().get(l);
                        NDList top = TOP.with(nmsPre).runAll(cls, output.reg().get(l));
                        rows.add(top.get(0));
                        positions.add(top.get(1));
                    }
                    return new NDList(Tensors.concat(rows, 1), Tensors.concat(positions, 1));
                });
    }

    /** Returns the level of each of the best anchors. */
    private static int[] levels(AnchorGrid grid, int nmsPre) {
        int[][] levels = new int[grid.levels()][];
        for (int l = 0; l < levels.length; l++) {
            levels[l] = new int[Math.min(nmsPre, grid.start(l + 1) - grid.start(l))];
            Arrays.fill(levels[l], l);
        }
        return Ints.concat(levels);
    }
}

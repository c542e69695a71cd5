package dev.saccade.heads.roi;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Default;
import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.nn.Linear;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.Norm;
import dev.saccade.core.nn.Sequential;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.structures.Losses;
import dev.saccade.heads.box.BoxCoder;
import dev.saccade.heads.box.BoxRegression;
import dev.saccade.heads.loss.BoxLoss;
import dev.saccade.heads.loss.ClassificationLoss;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Classifies regions and regresses their boxes, like mmdetection's {@code ConvFCBBoxHead}. */
public final class BoxHead extends Module {

    /**
     * Settings of a box head; {@code loss_cls} must be a softmax loss with background.
     *
     * @param norm normalization after the convolutions
     * @param regDecodedBbox whether {@code loss_bbox} compares decoded boxes instead of deltas
     */
    public record Config(
            @Default("0") int numSharedConvs,
            @Default("256") int convOutChannels,
            @Default("none") Norm norm,
            @Default("2") int numSharedFcs,
            @Default("1024") int fcOutChannels,
            @Default("{type: delta_xywh, target_stds: [0.1, 0.1, 0.2, 0.2]}") BoxCoder bboxCoder,
            @Default("false") boolean regClassAgnostic,
            @Default("false") boolean regDecodedBbox,
            @Default("{type: cross_entropy}") ClassificationLoss lossCls,
            @Default("{type: l1}") BoxLoss lossBbox) {

        public Config {
            new Checks()
                    .inRange("num_shared_convs", numSharedConvs, 0, 100)
                    .inRange("conv_out_channels", convOutChannels, 1, 8192)
                    .inRange("num_shared_fcs", numSharedFcs, 0, 100)
                    .inRange("fc_out_channels", fcOutChannels, 1, 65536)
                    .throwIfAny();
            Checks.require(
                    !lossCls.useSigmoid(),
                    "loss_cls",
                    lossCls.type(),
                    "a softmax loss with background, such as"
                            + " {type: cross_entropy, use_sigmoid: false}");
            BoxRegression.check(lossBbox, regDecodedBbox);
        }
    }

    private static final Script BY_LABEL =
            Script.compile(
                    "(deltas: Tensor, positions: Tensor, labels: Tensor) -> Tensor",
                    """
                    each = torch.reshape(deltas, [torch.size(deltas, 0), -1, 4])
                    classes = torch.size(each, 1)
                    rows = torch.mul(positions, classes)
                    if classes > 1:
                      rows = torch.add(rows, labels)
                    return torch.index_select(torch.reshape(each, [-1, 4]), 0, rows)
                    """);

    /** Selects the deltas of each label, or of the best class if the label is background. */
    private static final Script BY_LABEL_OR_BEST =
            Script.compile(
                    "(deltas: Tensor, logits: Tensor, labels: Tensor) -> Tensor",
                    """
                    labels = torch.to(labels, 4)
                    classes = torch.sub(torch.size(logits, 1), 1)
                    best = torch.argmax(torch.slice(logits, 1, 0, classes), 1)
                    label = torch.where(torch.eq(labels, classes), best, labels)
                    if torch.size(deltas, 1) == 4:
                      chosen = deltas
                    else:
                      each = torch.reshape(deltas, [-1, classes, 4])
                      index = torch.expand(torch.reshape(label, [-1, 1, 1]), [-1, 1, 4])
                      chosen = torch.squeeze(torch.gather(each, 1, index), 1)
                    return chosen
                    """);

    private final Config config;
    private final int numClasses;
    private final BoxRegression regression;
    private final List<ConvModule> convs = new ArrayList<>();
    private final Sequential fcs = new Sequential();
    private final Linear cls;
    private final Linear reg;

    /** Creates an uninitialized head for regions {@code [channels, size, size]}. */
    BoxHead(Config config, int channels, int size, int numClasses) {
        this.config = config;
        this.numClasses = numClasses;
        regression =
                new BoxRegression(config.bboxCoder(), config.lossBbox(), config.regDecodedBbox());
        int in = channels;
        for (int i = 0; i < config.numSharedConvs(); i++) {
            convs.add(add("shared_convs." + i, config.norm().conv(in, config.convOutChannels())));
            in = config.convOutChannels();
        }
        in *= size * size;
        add("", fcs);
        for (int i = 0; i < config.numSharedFcs(); i++) {
            int out = config.fcOutChannels();
            Linear fc = new Linear(in, out, WeightInit.xavierUniform(), WeightInit.ZEROS);
            fcs.append("shared_fcs." + i, fc).then(Functional::relu);
            in = out;
        }
        int deltas = config.regClassAgnostic() ? 4 : 4 * numClasses;
        WeightInit clsInit = WeightInit.normal(0.01);
        WeightInit regInit = WeightInit.normal(0.001);
        cls = add("fc_cls", new Linear(in, numClasses + 1, clsInit, WeightInit.ZEROS).asOutput());
        reg = add("fc_reg", new Linear(in, deltas, regInit, WeightInit.ZEROS).asOutput());
    }

    /**
     * Float32 logits {@code [R, C + 1]} (background last), and deltas {@code [R, C * 4]}, or {@code
     * [R, 4]} if class-agnostic.
     */
    record Output(NDArray logits, NDArray deltas) {

        NDList list() {
            return new NDList(logits, deltas);
        }
    }

    /**
     * Classifies and regresses {@code [R, C, S, S]} regions. Normalization ignores regions with
     * weight 0, which are fillers (see {@code Positions}).
     */
    Output forward(NDArray pooled, Optional<NDArray> weights) {
        NDArray x = pooled;
        for (ConvModule conv : convs) {
            x = weights.isPresent() ? conv.forward(x, weights.get()) : conv.apply(x);
        }
        x = fcs.apply(x.flatten(1, -1));
        return new Output(Tensors.toFloat32(cls.apply(x)), Tensors.toFloat32(reg.apply(x)));
    }

    @Override
    public NDList call(NDList inputs) {
        return forward(inputs.singletonOrThrow(), Optional.empty()).list();
    }

    /**
     * Returns {@code loss_cls}, {@code loss_bbox} and the metric {@code acc} (percent), averaged
     * over the regions.
     */
    Losses losses(Output output, RoiSamples samples) {
        ClassificationLoss lossCls = config.lossCls();
        RoiSamples.Positives positives = samples.positives();
        NDArray number = Functional.clamp(samples.weights().sum(), 1);
        NDArray isHit = output.logits().argMax(1).eq(samples.labels());
        NDArray hits = Functional.mul(samples.weights(), isHit).sum();
        NDArray cls =
                Losses.requireScalar(
                        "loss_cls " + lossCls.type(),
                        lossCls.sum(output.logits(), samples.labels(), samples.weights()));
        NDArray bbox =
                regression.sum(
                        BY_LABEL.run(output.deltas(), positives.positions(), positives.labels()),
                        positives.boxes(),
                        positives.targets(),
                        positives.weights());
        return new Losses(
                ImmutableMap.of("loss_cls", cls.div(number), "loss_bbox", bbox.div(number)),
                ImmutableMap.of("acc", Functional.mul(hits, 100).div(number)));
    }

    /**
     * Refines {@code [R, 4]} boxes, without clipping, with the deltas of their {@code [R]} labels,
     * or of the predicted class where the label is background.
     */
    NDArray refine(Output output, NDArray boxes, NDArray labels) {
        NDArray deltas = BY_LABEL_OR_BEST.run(output.deltas(), output.logits(), labels);
        return coder().decode(boxes, deltas);
    }

    NDArray refine(Output output, NDArray boxes) {
        Shape all = new Shape(boxes.getShape().get(0));
        return refine(output, boxes, boxes.getManager().full(all, numClasses, DataType.INT32));
    }

    BoxCoder coder() {
        return config.bboxCoder();
    }
}

package dev.saccade.heads.roi;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.Checks;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.nn.ConvTranspose2d;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Activations;
import dev.saccade.core.ops.MaskCrop;
import dev.saccade.core.ops.Scope;
import dev.saccade.core.ops.Script;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.parts.Default;
import dev.saccade.heads.Norm;
import dev.saccade.heads.loss.MaskCrossEntropy;

import java.util.ArrayList;
import java.util.List;

/**
 * Draws the mask of what a pooled region shows (He et al. 2017), as mmdetection's {@code
 * FCNMaskHead}: convolutions, twice the resolution, one mask for every class or for all.
 */
public final class MaskHead extends Layer {

    /** Masks are so many times larger than the pooled regions. */
    static final int UPSAMPLING = 2;

    /**
     * The hyper-parameters of a mask head.
     *
     * @param numConvs number of 3x3 convolutions
     * @param convOutChannels their width
     * @param norm what stands behind them
     * @param classAgnostic whether there is one mask for all classes
     * @param lossWeight weight of the loss among the others
     */
    public record Config(
            @Default("4") int numConvs,
            @Default("256") int convOutChannels,
            @Default("none") Norm norm,
            @Default("false") boolean classAgnostic,
            @Default("1") double lossWeight) {

        /** Checks the values. */
        public Config {
            new Checks()
                    .within("num_convs", numConvs, 0, 100)
                    .within("conv_out_channels", convOutChannels, 1, 8192)
                    .within("loss_weight", lossWeight, 0, 1e6)
                    .throwIfAny();
        }
    }

    /** The probabilities of the labeled classes, {@code [R, S, S]}. */
    private static final Script PROBABILITIES =
            Script.compile(
                    "(logits: Tensor, labels: Tensor) -> Tensor",
                    """
                    size = [-1, 1, torch.size(logits, 2), torch.size(logits, 3)]
                    index = torch.expand(torch.reshape(torch.to(labels, 4), [-1, 1, 1, 1]), size)
                    return torch.sigmoid(torch.squeeze(torch.gather(logits, 1, index), 1))
                    """);

    private final Config config;
    private final MaskCrossEntropy loss;
    private final List<ConvModule> convs = new ArrayList<>();
    private final ConvTranspose2d upsample;
    private final Conv2d logits;

    /**
     * Makes a head without weights.
     *
     * @param channels of a pooled region
     */
    MaskHead(Config config, int channels, int numClasses) {
        this.config = config;
        loss = new MaskCrossEntropy(config.lossWeight());
        int width = config.convOutChannels();
        int in = channels;
        for (int i = 0; i < config.numConvs(); i++) {
            convs.add(add("convs." + i, config.norm().conv(in, width)));
            in = width;
        }
        WeightInit init = WeightInit.kaimingNormal();
        upsample = add("upsample", new ConvTranspose2d(in, width, UPSAMPLING, init));
        int masks = config.classAgnostic() ? 1 : numClasses;
        logits = add("conv_logits", new Conv2d(new Geometry(width, masks, 1), init));
    }

    /**
     * Draws masks.
     *
     * @param pooled {@code [R, C, S, S]}
     * @return logits {@code [R, classes, 2S, 2S]}
     */
    @Override
    public NDArray forward(NDArray pooled) {
        return Scope.array(
                () -> {
                    NDArray x = pooled;
                    for (ConvModule conv : convs) {
                        x = conv.forward(x);
                    }
                    return logits.forward(Activations.relu(upsample.forward(x)));
                });
    }

    /**
     * Returns the weighted loss of the masks, a mean over regions and cells.
     *
     * @param masks logits {@code [P, classes, S, S]} of the positive regions, or of any one region
     *     if there is none; then the loss is 0
     */
    NDArray loss(NDArray masks, RoiSamples samples) {
        return Scope.array(
                () -> {
                    NDManager manager = masks.getManager();
                    int side = Math.toIntExact(masks.getShape().get(2));
                    int positives = samples.positives().length;
                    if (positives == 0) {
                        return masks.sum().mul(Tensors.of(manager, 0));
                    }
                    float[] targets =
                            MaskCrop.crop(
                                    samples.masks(),
                                    samples.rois().boxes().select(samples.positives()),
                                    side);
                    NDArray sum =
                            loss.sum(
                                    masks,
                                    Tensors.of(manager, targets, new Shape(positives, side, side)),
                                    labels(manager, samples.positiveLabels()));
                    return sum.div(Tensors.of(manager, targets.length));
                });
    }

    /**
     * Returns the probabilities of masks.
     *
     * @param masks logits {@code [R, classes, S, S]}
     * @param shown [R] what each region shows
     * @return {@code [R, S, S]}
     */
    NDArray probabilities(NDArray masks, int[] shown) {
        return Scope.array(() -> PROBABILITIES.run(masks, labels(masks.getManager(), shown)));
    }

    private NDArray labels(NDManager manager, int[] shown) {
        int[] labels = config.classAgnostic() ? new int[shown.length] : shown;
        return Tensors.of(manager, labels, new Shape(labels.length));
    }
}

package dev.saccade.heads.roi;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.nn.ConvTranspose2d;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.vision.MaskCrop;
import dev.saccade.core.parts.Default;
import dev.saccade.heads.Norm;
import dev.saccade.heads.loss.MaskCrossEntropy;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Draws the mask of what a pooled region shows (He et al. 2017), as mmdetection's {@code
 * FCNMaskHead}: convolutions, twice the resolution, one mask for every class or for all. One of a
 * cascade may take in what the one before made of the region (Chen et al. 2019), as {@code
 * HTCMaskHead}.
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

    /** The number of cells of all masks that count, or of one. */
    private static final Script CELLS =
            Script.compile(
                    "(targets: Tensor, weights: Tensor) -> Tensor",
                    """
                    cells = torch.size(targets, 1) * torch.size(targets, 2)
                    return torch.mul(torch.clamp(torch.sum(weights), 1), cells)
                    """);

    private final Config config;
    private final MaskCrossEntropy loss;
    private final List<ConvModule> convs = new ArrayList<>();
    private final Optional<ConvModule> residual;
    private final ConvTranspose2d upsample;
    private final Conv2d logits;

    /**
     * Makes a head without weights.
     *
     * @param channels of a pooled region
     * @param residual whether it takes in the features of the head before, which are as wide as a
     *     pooled region then
     */
    MaskHead(Config config, int channels, int numClasses, boolean residual) {
        this.config = config;
        loss = new MaskCrossEntropy(config.lossWeight());
        int width = config.convOutChannels();
        int in = channels;
        for (int i = 0; i < config.numConvs(); i++) {
            convs.add(add("convs." + i, config.norm().conv(in, width)));
            in = width;
        }
        this.residual =
                residual
                        ? Optional.of(add("conv_res", config.norm().conv(width, width, 1)))
                        : Optional.empty();
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
    protected NDArray forward(NDArray pooled) {
        return forward(pooled, Optional.empty());
    }

    /**
     * Draws masks.
     *
     * @param pooled {@code [R, C, S, S]}
     * @param weights {@code [R]} 0 for fillers, which must not count in normalizations; none if
     *     there are no fillers
     * @return logits {@code [R, classes, 2S, 2S]}, float32 whatever the layers compute in
     */
    NDArray forward(NDArray pooled, Optional<NDArray> weights) {
        return Scope.array(() -> draw(features(pooled, Optional.empty(), weights)));
    }

    /** Returns whether it takes in the features of the head before. */
    boolean isResidual() {
        return residual.isPresent();
    }

    /**
     * Returns what the convolutions make of regions.
     *
     * @param pooled {@code [R, C, S, S]}
     * @param before {@code [R, C, S, S]} what those of the head before made of them, if it is taken
     *     in
     * @param weights {@code [R]} 0 for fillers, if there may be any
     * @return {@code [R, D, S, S]}
     */
    NDArray features(NDArray pooled, Optional<NDArray> before, Optional<NDArray> weights) {
        return Scope.array(
                () -> {
                    NDArray x = pooled;
                    if (before.isPresent()) {
                        x = x.add(convolved(residual.orElseThrow(), before.get(), weights));
                    }
                    for (ConvModule conv : convs) {
                        x = convolved(conv, x, weights);
                    }
                    return x;
                });
    }

    private static NDArray convolved(ConvModule conv, NDArray x, Optional<NDArray> weights) {
        return weights.isPresent() ? conv.forward(x, weights.get()) : conv.apply(x);
    }

    /**
     * Draws masks.
     *
     * @param features {@code [R, D, S, S]}
     * @return logits {@code [R, classes, 2S, 2S]}, float32 whatever the layers compute in
     */
    NDArray draw(NDArray features) {
        return Scope.array(
                () -> {
                    NDArray up = Functional.reluInPlace(upsample.apply(features));
                    return Tensors.toFloat32(logits.apply(up));
                });
    }

    /**
     * Returns the weighted loss of the masks, a mean over regions and cells; 0 if all are fillers.
     *
     * @param drawn logits {@code [P, classes, S, S]} of the regions
     * @param learned the regions
     * @param masks what they should find
     */
    NDArray loss(NDArray drawn, RoiSamples.Learned learned, MaskCrop masks) {
        return Scope.array(
                () -> {
                    int side = Math.toIntExact(drawn.getShape().get(2));
                    NDArray targets = masks.crop(learned.objects(), learned.boxes(), side);
                    NDArray sum =
                            loss.sum(drawn, targets, labels(learned.labels()), learned.weights());
                    return sum.div(CELLS.run(targets, learned.weights()));
                });
    }

    /**
     * Returns the probabilities of masks.
     *
     * @param drawn logits {@code [R, classes, S, S]}
     * @param shown {@code [R]} integers: what each region shows
     * @return {@code [R, S, S]}
     */
    NDArray probabilities(NDArray drawn, NDArray shown) {
        return Scope.array(() -> PROBABILITIES.run(drawn, labels(shown)));
    }

    private NDArray labels(NDArray shown) {
        return config.classAgnostic() ? shown.zerosLike() : shown;
    }
}

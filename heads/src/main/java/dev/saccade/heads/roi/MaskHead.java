package dev.saccade.heads.roi;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.nn.ConvTranspose2d;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Sequential;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;
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

        public Config {
            new Checks()
                    .inRange("num_convs", numConvs, 0, 100)
                    .inRange("conv_out_channels", convOutChannels, 1, 8192)
                    .inRange("loss_weight", lossWeight, 0, 1e6)
                    .throwIfAny();
        }
    }

    private final Config config;
    private final MaskCrossEntropy loss;
    private final List<ConvModule> convs = new ArrayList<>();
    private final Optional<ConvModule> residual;
    private final Sequential predictor = new Sequential();

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
        this.residual = when(residual, () -> add("conv_res", config.norm().conv(width, width, 1)));
        WeightInit init = WeightInit.kaimingNormal();
        int masks = config.classAgnostic() ? 1 : numClasses;
        add("", predictor)
                .append("upsample", new ConvTranspose2d(in, width, UPSAMPLING, init))
                .then(Functional::reluInPlace)
                .append("conv_logits", new Conv2d(new Geometry(width, masks, 1), init))
                .then(Tensors::toFloat32);
    }

    /** Returns logits {@code [R, classes, 2S, 2S]} of pooled regions {@code [R, C, S, S]}. */
    @Override
    protected NDArray forward(NDArray pooled) {
        return logits(features(pooled, Optional.empty(), Optional.empty()));
    }

    /** Returns whether it takes the features of the previous head. */
    boolean isResidual() {
        return residual.isPresent();
    }

    /**
     * Returns the output of the convolutions.
     *
     * @param pooled {@code [R, C, S, S]}
     * @param previous {@code [R, C, S, S]} the features of the previous head, if there is one; used
     *     if this head {@link #isResidual}
     * @param weights {@code [R]} 0 for fillers, if there may be any
     * @return {@code [R, D, S, S]}
     */
    NDArray features(NDArray pooled, Optional<NDArray> previous, Optional<NDArray> weights) {
        NDArray x = pooled;
        if (residual.isPresent()) {
            x = x.add(convolved(residual.get(), previous.orElseThrow(), weights));
        }
        for (ConvModule conv : convs) {
            x = convolved(conv, x, weights);
        }
        return x;
    }

    private static NDArray convolved(ConvModule conv, NDArray x, Optional<NDArray> weights) {
        return weights.isPresent() ? conv.forward(x, weights.get()) : conv.apply(x);
    }

    /**
     * Returns mask logits.
     *
     * @param features {@code [R, D, S, S]}
     * @return {@code [R, classes, 2S, 2S]}, float32 in any precision
     */
    NDArray logits(NDArray features) {
        return predictor.apply(features);
    }

    /**
     * Returns the weighted loss of the masks, a mean over regions and cells; 0 if all are fillers.
     *
     * @param logits {@code [P, classes, S, S]}
     * @param masks of all objects
     */
    NDArray loss(NDArray logits, RoiSamples.Positives positives, MaskCrop masks) {
        int side = Math.toIntExact(logits.getShape().get(2));
        NDArray targets = masks.crop(positives.objects(), positives.boxes(), side);
        NDArray sum = loss.sum(logits, targets, labels(positives.labels()), positives.weights());
        NDArray number = Functional.clamp(positives.weights().sum(), 1);
        return sum.div(Functional.mul(number, (double) side * side));
    }

    /**
     * Returns the mask probabilities of some classes, {@code [R, S, S]}.
     *
     * @param logits {@code [R, classes, S, S]}
     * @param labels {@code [R]} integers
     */
    NDArray probabilities(NDArray logits, NDArray labels) {
        return Functional.sigmoid(MaskCrossEntropy.ofLabels(logits, labels(labels)));
    }

    private NDArray labels(NDArray labels) {
        return config.classAgnostic() ? labels.zerosLike() : labels;
    }
}

package dev.saccade.heads.roi;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Default;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.ConvModule;
import dev.saccade.core.nn.ConvTranspose2d;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.Norm;
import dev.saccade.core.nn.Sequential;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.vision.MaskCrop;
import dev.saccade.core.ops.vision.MaskStyle;
import dev.saccade.heads.loss.MaskCrossEntropy;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Predicts masks of regions (He et al. 2017), like mmdetection's {@code FCNMaskHead}, or {@code
 * HTCMaskHead} with the features of the previous stage.
 */
public final class MaskHead extends Layer {

    /** Ratio of mask size to the size of the pooled region. */
    static final int UPSAMPLING = 2;

    /**
     * Settings of a mask head.
     *
     * @param style how training masks are cropped and predicted masks are pasted
     */
    public record Config(
            @Default("4") int numConvs,
            @Default("256") int convOutChannels,
            @Default("none") Norm norm,
            @Default("false") boolean classAgnostic,
            @Default("mmdetection") MaskStyle style,
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
     * Creates an uninitialized head; {@code residual} heads add the features of the previous head.
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

    /** Returns logits {@code [R, classes, 2S, 2S]} of regions {@code [R, C, S, S]}. */
    @Override
    protected NDArray forward(NDArray pooled) {
        return logits(features(pooled, Optional.empty(), Optional.empty()));
    }

    boolean isResidual() {
        return residual.isPresent();
    }

    /**
     * Returns the output of the convolutions, {@code [R, D, S, S]}.
     *
     * @param pooled {@code [R, C, S, S]}
     * @param previous {@code [R, D, S, S]} features of the previous head, if {@link #isResidual}
     * @param weights {@code [R]} 0 for fillers (see {@code Positions}); empty without fillers
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

    /** Returns float32 logits {@code [R, classes, 2S, 2S]} of features {@code [R, D, S, S]}. */
    NDArray logits(NDArray features) {
        return predictor.apply(features);
    }

    /**
     * Returns the weighted mask loss, averaged over regions and pixels; 0 if all regions are
     * fillers. Logits are {@code [P, classes, S, S]}.
     */
    NDArray loss(NDArray logits, RoiSamples.Positives positives, MaskCrop masks) {
        int side = Math.toIntExact(logits.getShape().get(2));
        NDArray targets = masks.crop(positives.objects(), positives.boxes(), side);
        NDArray sum = loss.sum(logits, targets, labels(positives.labels()), positives.weights());
        NDArray number = Functional.clamp(positives.weights().sum(), 1);
        return sum.div(Functional.mul(number, (double) side * side));
    }

    /**
     * Returns mask probabilities {@code [R, S, S]} for {@code [R]} labels; logits are {@code [R,
     * classes, S, S]}.
     */
    NDArray probabilities(NDArray logits, NDArray labels) {
        return Functional.sigmoid(MaskCrossEntropy.selectLabels(logits, labels(labels)));
    }

    private NDArray labels(NDArray labels) {
        return config.classAgnostic() ? labels.zerosLike() : labels;
    }
}

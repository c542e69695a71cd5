package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.ops.Script;

/**
 * Batch normalization over {@code [N, H, W]} with running statistics (momentum 0.1, eps 1e-5 in
 * PyTorch's terms); in inference mode it uses the running statistics.
 */
public final class BatchNorm2d extends Layer {

    private static final float EPS = 1e-5f;

    /** DJL counts the share of the old value that stays, PyTorch (0.1) the share that goes. */
    private static final float MOMENTUM = 0.9f;

    /** Leaves the running statistics where they are. */
    private static final float STANDSTILL = 1;

    private static final Script AFFINE =
            Script.compile(
                    "(weight: Tensor, bias: Tensor, mean: Tensor, var: Tensor)"
                            + " -> Tuple[Tensor, Tensor]",
                    """
                    scale = weight * torch.rsqrt(var + %s)
                    return (scale, bias - mean * scale)
                    """
                            .formatted(EPS));

    private final Parameter weight;
    private final Parameter bias;
    private final Parameter runningMean;
    private final Parameter runningVar;

    /** Makes a normalization whose weight starts at 1. */
    public BatchNorm2d(int channels) {
        this(channels, WeightInit.ONES);
    }

    /** Makes a normalization whose weight starts as given, such as 0 at the end of a residual. */
    public BatchNorm2d(int channels, WeightInit weightInit) {
        Shape shape = new Shape(channels);
        this.weight = parameter("weight", shape, weightInit);
        this.bias = parameter("bias", shape, WeightInit.ZEROS);
        this.runningMean = buffer("running_mean", shape, WeightInit.ZEROS);
        this.runningVar = buffer("running_var", shape, WeightInit.ONES);
    }

    /**
     * Normalizes {@code [N, C, H, W]}.
     *
     * @throws SaccadeException of kind user in training, if there is one value a channel: its
     *     variance is 0
     */
    @Override
    public NDArray forward(NDArray x) {
        if (isTraining() && x.size() == x.getShape().get(1)) {
            throw SaccadeException.user(
                    "batch normalization in training needs more than one value a channel, got %s;"
                            + " train with at least 2 images a batch",
                    x.getShape());
        }
        return x.getNDArrayInternal()
                .batchNorm(
                        x,
                        runningMean.getArray(),
                        runningVar.getArray(),
                        weight.getArray(),
                        bias.getArray(),
                        -1,
                        ActivationCheckpointing.isRepeating() ? STANDSTILL : MOMENTUM,
                        EPS,
                        isTraining())
                .singletonOrThrow();
    }

    /**
     * Returns what it does to a channel in inference mode, {@code y = scale x + shift}.
     *
     * @return the scales and the shifts, each {@code [C]}
     */
    public NDList affine() {
        return AFFINE.runAll(
                weight.getArray(), bias.getArray(), runningMean.getArray(), runningVar.getArray());
    }
}

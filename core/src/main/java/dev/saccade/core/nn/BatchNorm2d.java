package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Map;

/**
 * Batch normalization over {@code [N, H, W]} with running statistics (momentum 0.1 in PyTorch's
 * terms); in inference mode it uses the running statistics.
 *
 * <p>As PyTorch's SyncBatchNorm it trains on the statistics of the batches of all {@linkplain
 * ProcessGroup#current() ranks} as if they were one, whatever number of images each has; all ranks
 * go forward and backward through the same layers, and weight and bias have those shares of their
 * gradients that come from the own batch.
 */
public final class BatchNorm2d extends Layer {

    /** PyTorch's default. */
    public static final double EPS = 1e-5;

    /** DJL counts the share of the old value that stays, PyTorch (0.1) the share that goes. */
    private static final float MOMENTUM = 0.9f;

    /** Leaves the running statistics where they are. */
    private static final float STANDSTILL = 1;

    private static final ScriptTemplate WEIGHTED =
            ScriptTemplate.read(BatchNorm2d.class, "weighted");

    private final BatchNormType type;
    private final float eps;
    private final Parameter weight;
    private final Parameter bias;
    private final Parameter runningMean;
    private final Parameter runningVar;

    /** Makes a normalization whose weight starts at 1. */
    public BatchNorm2d(int channels) {
        this(channels, BatchNormType.BN);
    }

    /** Makes a normalization of a type, whose weight starts at 1. */
    public BatchNorm2d(int channels, BatchNormType type) {
        this(channels, type, EPS, WeightInit.ONES);
    }

    /**
     * Makes a normalization.
     *
     * @param eps added to the variance
     * @param weightInit initial weight
     */
    public BatchNorm2d(int channels, BatchNormType type, double eps, WeightInit weightInit) {
        this.type = type;
        this.eps = (float) eps;
        Shape shape = new Shape(channels);
        this.weight = parameter("weight", shape, weightInit);
        this.bias = parameter("bias", shape, WeightInit.ZEROS);
        this.runningMean = buffer("running_mean", shape, WeightInit.ZEROS);
        this.runningVar = buffer("running_var", shape, WeightInit.ONES);
    }

    @Override
    public boolean synchronizes() {
        return type == BatchNormType.SYNC_BN && isTraining();
    }

    /**
     * Normalizes {@code [N, C, H, W]}.
     *
     * @throws SaccadeException of kind user in training, if there is one value a channel: its
     *     variance is 0
     */
    @Override
    protected NDArray forward(NDArray x) {
        if (isSpread()) {
            return overRanks(x, null);
        }
        if (isTraining() && x.size() == x.getShape().get(1)) {
            throw SaccadeException.user(
                    "batch normalization: got %s in training, expected more than one value per"
                            + " channel; use at least 2 images per batch",
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
                        momentum(),
                        eps,
                        isTraining())
                .singletonOrThrow();
    }

    /**
     * Normalizes {@code [N, C, H, W]} by the statistics of some of the samples.
     *
     * @param weights {@code [N]} float32: 1, or 0 for a sample that is a filler
     */
    public NDArray forward(NDArray x, NDArray weights) {
        if (isSpread()) {
            return overRanks(x, weights);
        }
        return isTraining()
                ? WEIGHTED.with(Map.of("share", 1 - (double) momentum(), "eps", eps))
                        .run(
                                x,
                                weights,
                                weight.getArray(),
                                bias.getArray(),
                                runningMean.getArray(),
                                runningVar.getArray())
                : forward(x);
    }

    /** Returns whether the statistics are those of several ranks. */
    private boolean isSpread() {
        return synchronizes() && ProcessGroup.current().worldSize() > 1;
    }

    private NDArray overRanks(NDArray x, NDArray weights) {
        ProcessGroup ranks = ProcessGroup.current();
        Object[] inputs = {
            x,
            weights,
            weight.getArray(),
            bias.getArray(),
            runningMean.getArray(),
            runningVar.getArray(),
            1 - (double) momentum(),
            (double) eps,
            '"' + ranks.name() + '"'
        };
        return ranks.runCollective(() -> Script.call("ops.saccade.sync_batch_norm", inputs));
    }

    private static float momentum() {
        return ActivationCheckpointing.isRepeating() ? STANDSTILL : MOMENTUM;
    }

    /**
     * Returns what it does to a channel in inference mode, {@code y = scale x + shift}.
     *
     * @return the scales and the shifts, each {@code [C]}
     */
    public NDList affine() {
        NDArray variance = Functional.add(runningVar.getArray(), eps);
        NDArray scale = weight.getArray().mul(Script.call("torch.rsqrt", variance));
        return new NDList(scale, bias.getArray().sub(runningMean.getArray().mul(scale)));
    }
}

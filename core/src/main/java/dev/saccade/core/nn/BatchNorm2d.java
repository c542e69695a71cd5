package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.Map;
import java.util.Optional;

/**
 * Batch normalization over {@code [N, H, W]} with running statistics (momentum 0.1, as in PyTorch).
 *
 * <p>With {@link BatchNormType#SYNC_BN}, training uses the statistics of all {@linkplain
 * ProcessGroup#current() ranks}; batch sizes may differ. Weight and bias get gradients from the
 * local batch only.
 */
public final class BatchNorm2d extends Layer {

    /** PyTorch's default epsilon. */
    public static final double EPS = 1e-5;

    /** Weight of the old statistics, as in DJL; PyTorch's momentum (0.1) is the batch's weight. */
    private static final float MOMENTUM = 0.9f;

    /** Momentum that keeps the running statistics unchanged. */
    private static final float NO_UPDATE = 1;

    private static final ScriptTemplate WEIGHTED =
            ScriptTemplate.read(BatchNorm2d.class, "weighted");

    private final BatchNormType type;
    private final float eps;
    private final Parameter weight;
    private final Parameter bias;
    private final Parameter runningMean;
    private final Parameter runningVar;

    public BatchNorm2d(int channels) {
        this(channels, BatchNormType.BN);
    }

    /** Creates a normalization with weight 1 and bias 0. */
    public BatchNorm2d(int channels, BatchNormType type) {
        this(channels, type, EPS, WeightInit.ONES);
    }

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

    /** Normalizes {@code [N, C, H, W]}; rejects a single value per channel in training. */
    @Override
    protected NDArray forward(NDArray x) {
        return forward(x, Optional.empty(), false);
    }

    /**
     * Normalizes {@code [N, C, H, W]}, then adds {@code residual}, then applies ReLU if {@code
     * relu}. Rejects a single value per channel in training.
     */
    NDArray forward(NDArray x, Optional<NDArray> residual, boolean relu) {
        if (isTraining() && !isSynchronized() && x.size() == x.getShape().get(1)) {
            throw SaccadeException.user(
                    "batch normalization: got %s in training, expected more than one value per"
                            + " channel; use at least 2 images per batch",
                    x.getShape());
        }
        if (!isSynchronized() && Kernels.isFusedForModelsOnCpu(x)) {
            return Script.call(
                    "ops.saccade.batch_norm",
                    x,
                    residual.orElse(null),
                    weight.getArray(),
                    bias.getArray(),
                    runningMean.getArray(),
                    runningVar.getArray(),
                    isTraining(),
                    1 - (double) momentum(),
                    (double) eps,
                    relu);
        }
        NDArray y = isSynchronized() ? overRanks(x, null) : normalize(x);
        residual.ifPresent(y::addi);
        return relu ? Functional.reluInPlace(y) : y;
    }

    private NDArray normalize(NDArray x) {
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

    /** Normalizes {@code [N, C, H, W]}; {@code weights} is {@code [N]}, 0 for padding samples. */
    public NDArray forward(NDArray x, NDArray weights) {
        if (isSynchronized()) {
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

    /** Returns whether statistics are reduced over multiple ranks. */
    private boolean isSynchronized() {
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
        return ActivationCheckpointing.isRepeating() ? NO_UPDATE : MOMENTUM;
    }

    /** Returns scale and shift ({@code [C]}) of inference mode, {@code y = scale x + shift}. */
    public NDList affine() {
        NDArray variance = Functional.add(runningVar.getArray(), eps);
        NDArray scale = weight.getArray().mul(Script.call("torch.rsqrt", variance));
        return new NDList(scale, bias.getArray().sub(runningMean.getArray().mul(scale)));
    }
}

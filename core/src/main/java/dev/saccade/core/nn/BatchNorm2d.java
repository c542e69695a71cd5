package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.script.ScriptTemplate;

import java.util.ArrayList;
import java.util.List;
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

    private static final ScriptTemplate AFFINE =
            ScriptTemplate.of(
                    "(weight: Tensor, bias: Tensor, mean: Tensor, var: Tensor)"
                            + " -> Tuple[Tensor, Tensor]",
                    """
                    scale = weight * torch.rsqrt(var + {eps})
                    return (scale, bias - mean * scale)
                    """);

    /** The variance that is kept is unbiased, as PyTorch's own; of no sample nothing is kept. */
    private static final ScriptTemplate WEIGHTED =
            ScriptTemplate.of(
                    "(x: Tensor, weights: Tensor, weight: Tensor, bias: Tensor, running_mean:"
                            + " Tensor, running_var: Tensor) -> Tensor",
                    """
                    share = torch.reshape(weights, [-1, 1, 1, 1])
                    cells = torch.size(x, 2) * torch.size(x, 3)
                    number = torch.mul(torch.sum(weights), cells)
                    n = torch.clamp(number, 1)
                    numbers = torch.to(x, 6)
                    mean = torch.div(torch.sum(torch.mul(numbers, share), [0, 2, 3], True), n)
                    centered = torch.sub(numbers, mean)
                    squares = torch.mul(torch.mul(centered, centered), share)
                    var = torch.div(torch.sum(squares, [0, 2, 3], True), n)
                    moved = torch.mul(torch.to(torch.gt(number, 0), 6), {share})
                    found = torch.reshape(torch.detach(mean), [-1])
                    unbiased = torch.div(torch.mul(n, torch.detach(var)), torch.clamp(n - 1, 1))
                    _0 = torch.lerp_(running_mean, found, moved)
                    _1 = torch.lerp_(running_var, torch.reshape(unbiased, [-1]), moved)
                    rsqrt = torch.rsqrt(torch.add(var, {eps}))
                    scale = torch.mul(rsqrt, torch.reshape(weight, [1, -1, 1, 1]))
                    shift = torch.reshape(bias, [1, -1, 1, 1])
                    return torch.type_as(torch.add(torch.mul(centered, scale), shift), x)
                    """);

    private static final ScriptTemplate SYNCHRONIZED = synchronizedOver("", "None");

    private static final ScriptTemplate WEIGHTED_SYNCHRONIZED =
            synchronizedOver("weights: Tensor, ", "weights");

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
        this(channels, type, WeightInit.ONES);
    }

    /** Makes a normalization whose weight starts as given, such as 0 at the end of a residual. */
    public BatchNorm2d(int channels, BatchNormType type, WeightInit weightInit) {
        this(channels, type, EPS, weightInit);
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

    private static ScriptTemplate synchronizedOver(String parameter, String weights) {
        return ScriptTemplate.of(
                Text.format(
                                "(x: Tensor, %sweight: Tensor, bias: Tensor, running_mean: Tensor,",
                                parameter)
                        + " running_var: Tensor) -> Tensor",
                Text.format(
                        """
                        return ops.saccade.sync_batch_norm(x, %s, weight, bias, running_mean, running_var,\
                         {share}, {eps}, "{group}")
                        """,
                        weights));
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
            return overRanks(SYNCHRONIZED, x);
        }
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
            return overRanks(WEIGHTED_SYNCHRONIZED, x, weights);
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

    private NDArray overRanks(ScriptTemplate operator, NDArray... batch) {
        ProcessGroup ranks = ProcessGroup.current();
        Script script =
                operator.with(
                        Map.of(
                                "share",
                                1 - (double) momentum(),
                                "eps",
                                (double) eps,
                                "group",
                                ranks.name()));
        List<NDArray> inputs = new ArrayList<>(List.of(batch));
        for (Parameter parameter : List.of(weight, bias, runningMean, runningVar)) {
            inputs.add(parameter.getArray());
        }
        return ranks.told(() -> script.run(inputs.toArray(NDArray[]::new)));
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
        return AFFINE.with(Map.of("eps", eps))
                .runAll(
                        weight.getArray(),
                        bias.getArray(),
                        runningMean.getArray(),
                        runningVar.getArray());
    }
}

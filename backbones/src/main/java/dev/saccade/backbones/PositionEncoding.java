package dev.saccade.backbones;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.backbones.LinGlo.Skip;
import dev.saccade.core.nn.BatchNorm2d;
import dev.saccade.core.nn.BatchNormType;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.Layer;
import dev.saccade.core.nn.WeightInit;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.memory.Scope;

import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Residual parallel conditional position encoding (RP-CPE) of LinGlo: parallel 3x3 depth-wise
 * convolutions, each with optional batch normalization, plus the input. The paper's names are P-CPE
 * without the input, R-CPE with a single convolution, and CPE with both changes.
 *
 * <p>In inference, or without normalizations, all operations are linear, so the branches are merged
 * into one convolution (as in Diverse Branch Block, Ding et al. 2021).
 */
final class PositionEncoding extends Layer {

    private static final WeightInit INIT = WeightInit.normal(Math.sqrt(2.0 / 9));

    private final int channels;
    private final List<Branch> branches;
    private final Skip skip;
    private final Optional<BatchNorm2d> skipBn;
    private final boolean normalized;
    private Optional<NDList> fused = Optional.empty();

    PositionEncoding(int channels, int branches, boolean branchBn, Skip skip, BatchNormType norm) {
        this.channels = channels;
        this.skip = skip;
        this.branches =
                IntStream.rangeClosed(1, branches)
                        .mapToObj(b -> add("branch" + b, new Branch(channels, branchBn, norm)))
                        .toList();
        skipBn = when(skip == Skip.BN, () -> add("skip.bn", new BatchNorm2d(channels, norm)));
        normalized = branchBn || skip == Skip.BN;
    }

    static Conv2d convolution(int channels, WeightInit biasInit) {
        return new Conv2d(Geometry.depthwise(channels, 3), INIT, biasInit);
    }

    @Override
    protected NDArray forward(NDArray x) {
        NDArray map = x.transpose(0, 3, 1, 2);
        NDArray y = isTraining() && normalized ? forwardBranches(map) : forwardMerged(map);
        return y.transpose(0, 2, 3, 1);
    }

    private NDArray forwardBranches(NDArray map) {
        NDArray sum = branches.get(0).apply(map);
        for (Layer branch : branches.subList(1, branches.size())) {
            addTo(sum, branch, map);
        }
        if (skip == Skip.IDENTITY) {
            sum.addi(map);
        }
        skipBn.ifPresent(bn -> addTo(sum, bn, map));
        return sum;
    }

    private static void addTo(NDArray sum, Layer branch, NDArray map) {
        try (NDArray term = branch.apply(map)) {
            sum.addi(term);
        }
    }

    private NDArray forwardMerged(NDArray map) {
        NDList convolution = fused.orElseGet(this::merged);
        NDArray weight = convolution.get(0);
        return Functional.conv2d(map, weight, convolution.get(1), 1, 1, 1, channels);
    }

    /**
     * Returns weight {@code [C, 1, 3, 3]} and bias {@code [C]} of the merged convolution in
     * inference mode.
     */
    NDList merged() {
        float scale = skip == Skip.NONE ? 0 : 1;
        NDList input = skipBn.map(BatchNorm2d::affine).orElseGet(() -> scaled(scale));
        NDArray weight = Functional.pad(perFilter(input), List.of(1, 1, 1, 1));
        NDArray bias = input.get(1);
        for (Branch branch : branches) {
            NDList affine = branch.bn.map(BatchNorm2d::affine).orElseGet(() -> scaled(1));
            weight = weight.add(branch.conv.weight().mul(perFilter(affine)));
            bias = bias.add(affine.get(1));
        }
        return new NDList(weight, bias);
    }

    /** Returns {@link #merged} without gradients, for reuse in later passes. */
    NDList mergedWithoutGradients() {
        return NoGrad.call(() -> Scope.list(this::merged));
    }

    private static NDArray perFilter(NDList affine) {
        return affine.get(0).reshape(-1, 1, 1, 1);
    }

    long mergedParameterCount() {
        return channels * (9L + 1);
    }

    private NDList scaled(float scale) {
        NDManager manager = branches.get(0).conv.weight().getManager();
        Shape shape = new Shape(channels);
        return new NDList(manager.full(shape, scale), manager.zeros(shape));
    }

    /** {@inheritDoc} Caches the merged convolution. */
    @Override
    public void fuse() {
        unfuse();
        fused = Optional.of(mergedWithoutGradients());
    }

    @Override
    protected void unfuse() {
        fused.ifPresent(NDList::close);
        fused = Optional.empty();
    }

    private static final class Branch extends Layer {

        private final Conv2d conv;
        private final Optional<BatchNorm2d> bn;

        Branch(int channels, boolean normalized, BatchNormType norm) {
            conv = add("conv", convolution(channels, null));
            bn = when(normalized, () -> add("bn", new BatchNorm2d(channels, norm)));
        }

        @Override
        protected NDArray forward(NDArray x) {
            NDArray y = conv.apply(x);
            return bn.map(layer -> layer.apply(y)).orElse(y);
        }
    }
}

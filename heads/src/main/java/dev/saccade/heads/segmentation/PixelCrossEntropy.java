package dev.saccade.heads.segmentation;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Floats;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Default;
import dev.saccade.core.ops.Functional;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.script.Script;
import dev.saccade.core.ops.vision.BilinearResize;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;

import java.util.List;

/**
 * Per-pixel softmax cross entropy, like mmsegmentation's {@code CrossEntropyLoss}. Logits are
 * resized to the label map; {@link LabelMap#IGNORE} pixels do not contribute.
 *
 * <p>Loss and gradient are computed together in bands of rows that fit the cache, so the resized
 * logits of all classes are never stored.
 *
 * @param classWeight factor per class, which does not change the divisor; empty for none
 * @param avgNonIgnore whether to divide by the number of pixels that are not ignored; published
 *     recipes divide by all pixels
 */
public record PixelCrossEntropy(
        @Default("1") double lossWeight,
        @Default("[]") List<Double> classWeight,
        @Default("false") boolean avgNonIgnore) {

    /** Scores per band; a few float buffers of this size fit the cache. */
    private static final int BAND = 1 << 19;

    /** Scores per band on GPUs, which need time to start each operator. */
    private static final int GPU_BAND = 1 << 27;

    /** Shape of the two sums: the loss and the number of correct pixels. */
    private static final Shape METRICS = new Shape(2);

    /**
     * Adds the loss and the number of correct pixels of one band to {@code sums}, and the gradient
     * to {@code dx}. {@code x} has the width of the labels and the height of the logits; {@code
     * row_weights} are the row weights of the resize; the two dimensions of {@code place} are the
     * indices of the first row of the band in {@code x} and in the labels.
     */
    private static final Script STEP =
            Script.compile(
                    "(x: Tensor, dx: Tensor, sums: Tensor, row_weights: Tensor, place: Tensor,"
                            + " labels: Tensor, weights: Tensor, scale: Tensor) -> Tensor",
                    """
                    first = torch.size(place, 0)
                    last = first + torch.size(row_weights, 1)
                    top = torch.size(place, 1)
                    bottom = top + torch.size(row_weights, 0)
                    rows = torch.reshape(torch.slice(x, 0, first, last), [last - first, -1])
                    scores = torch.reshape(torch.mm(row_weights, rows), [-1, torch.size(x, 2)])
                    label = torch.reshape(torch.slice(labels, 0, top, bottom), [-1])
                    valid = torch.ge(label, 0)
                    index = torch.clamp(label, 0)
                    weight = torch.mul(torch.index_select(weights, 0, index), valid)
                    column = torch.unsqueeze(index, 1)
                    slope = torch.log_softmax(scores, 1)
                    log = torch.squeeze(torch.gather(slope, 1, column), 1)
                    right = torch.logical_and(torch.eq(log, torch.amax(slope, [1])), valid)
                    loss = torch.neg(torch.dot(log, weight))
                    sums = torch.add_(sums, torch.stack([loss, torch.type_as(torch.sum(right), loss)]))
                    slope = torch.exp_(slope)
                    minus = torch.full_like(column, -1, dtype=6)
                    slope = torch.scatter_add_(slope, 1, column, minus)
                    slope = torch.mul_(slope, torch.unsqueeze(torch.mul(weight, scale), 1))
                    slopes = torch.reshape(slope, [bottom - top, -1])
                    target = torch.view(torch.slice(dx, 0, first, last), [last - first, -1])
                    out = torch.addmm_(target, torch.t(row_weights), slopes)
                    return sums
                    """);

    public PixelCrossEntropy {
        classWeight = ImmutableList.copyOf(classWeight);
        new Checks()
                .inRange("loss_weight", lossWeight, 0, 1e6)
                .each("class_weight", classWeight, 0, 1e6)
                .throwIfAny();
    }

    public PixelCrossEntropy withLossWeight(double weight) {
        return new PixelCrossEntropy(weight, classWeight, avgNonIgnore);
    }

    void checkFits(int numClasses) {
        Checks.require(
                classWeight.isEmpty() || classWeight.size() == numClasses,
                "class_weight",
                classWeight.size() + " values",
                "one value for each of %s classes",
                numClasses);
    }

    /** Returns the divisor of the loss, a scalar of at least 1. */
    NDArray avgFactor(NDArray labels) {
        return avgNonIgnore
                ? Functional.to(
                        Functional.clamp(Functional.countNonzero(Functional.ge(labels, 0)), 1),
                        DataType.FLOAT32)
                : Tensors.of(labels.getManager(), (float) labels.size());
    }

    /**
     * Returns two scalars: the weighted loss sum, differentiable with respect to the logits, and
     * the number of correct pixels.
     *
     * @param logits {@code [N, K, h, w]}
     * @param labels {@code [N, H, W]} int64 in [0, K) or {@link LabelMap#IGNORE}
     */
    NDList sums(NDArray logits, NDArray labels, boolean alignCorners) {
        return Scope.list(
                () -> {
                    NDManager manager = logits.getManager();
                    Shape shape = logits.getShape();
                    Size from = new Size((int) shape.get(2), (int) shape.get(3));
                    Shape pixels = labels.getShape();
                    Size to = new Size((int) pixels.get(1), (int) pixels.get(2));
                    BilinearResize resize = new BilinearResize(from, to, alignCorners);
                    NDArray sums = manager.zeros(METRICS, DataType.FLOAT64);
                    NDArray gradient = NoGrad.call(() -> gradient(resize, logits, labels, sums));
                    float[] factors = {(float) lossWeight, 1};
                    NDArray scaled = sums.mul(Tensors.of(manager, factors, METRICS));
                    // Adds 0 to attach the gradient.
                    NDArray surrogate =
                            logits.transpose(0, 2, 3, 1).reshape(-1).dot(gradient.reshape(-1));
                    NDArray zero = surrogate.sub(surrogate.stopGradient());
                    NDArray values = Functional.to(scaled, DataType.FLOAT32);
                    return new NDList(values.get(0).add(zero), values.get(1));
                });
    }

    private static NDArray tokens(NDArray image) {
        return Functional.contiguous(image.stopGradient().transpose(1, 2, 0));
    }

    private NDArray weights(NDManager manager, long numClasses) {
        Shape shape = new Shape(numClasses);
        return classWeight.isEmpty()
                ? manager.ones(shape)
                : Tensors.of(manager, Floats.toArray(classWeight), shape);
    }

    /**
     * Returns the gradient of the loss with respect to the logits, {@code [N, h, w, K]}; adds to
     * the sums.
     */
    private NDArray gradient(BilinearResize resize, NDArray logits, NDArray labels, NDArray sums) {
        NDList each = new NDList();
        for (int n = 0; n < logits.getShape().get(0); n++) {
            NDArray label = labels.get(n);
            NDArray image = logits.get(n);
            each.add(Scope.array(() -> imageGradient(resize, tokens(image), label, sums)));
        }
        return NDArrays.stack(each);
    }

    private NDArray imageGradient(
            BilinearResize resize, NDArray tokens, NDArray label, NDArray sums) {
        NDManager manager = tokens.getManager();
        NDArray weights = weights(manager, tokens.getShape().get(2));
        NDArray factor = Tensors.of(manager, (float) lossWeight);
        NDArray x = resize.columns(tokens);
        NDArray dx = x.zerosLike();
        int height = resize.to().height();
        int band = x.getDevice().isGpu() ? GPU_BAND : BAND;
        int rows = (int) Math.max(1, band / x.getShape().slice(1).size());
        for (int top = 0; top < height; top += rows) {
            BilinearResize.Band part = resize.rows(top, Math.min(top + rows, height));
            Shape place = new Shape(part.first(), top, 0);
            Scope.run(
                    () -> {
                        NDArray at = manager.create(place);
                        STEP.run(x, dx, sums, part.weights(x), at, label, weights, factor);
                    });
        }
        return resize.columnsBackward(dx);
    }
}

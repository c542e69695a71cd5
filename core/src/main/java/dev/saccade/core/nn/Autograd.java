package dev.saccade.core.nn;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;

import dev.saccade.core.Text;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.ops.script.Script;

import java.util.List;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * Runs a forward pass with gradients recorded in this thread, then goes backward, also through what
 * is {@linkplain ActivationCheckpointing recomputed} on the way.
 *
 * <p>Gradients come from libtorch's {@code autograd.grad}, so nothing is left on the parameters
 * that would have to be set to zero before the next step.
 */
public final class Autograd {

    private static final Script PRODUCT = product("False");

    /** Leaves the graph intact for others that go through a part of it. */
    private static final Script PRODUCT_OF_MANY = product("True");

    private static final Script REQUIRES_GRADIENT =
            Script.compile("(x: Tensor) -> Tensor", "return torch.tensor(x.requires_grad)");

    private Autograd() {}

    private static Script product(String retainGraph) {
        return Script.compile(
                "(y: List[Tensor], by: List[Tensor], dy: List[Tensor]) -> List[Tensor]",
                Text.format(
                        """
                        weights = annotate(List[Optional[Tensor]], [dy[0]])
                        gradients = torch.autograd.grad(y, by, weights, %s, False, True)
                        out = annotate(List[Tensor], [])
                        for gradient in gradients:
                          if gradient is None:
                            out.append(torch.empty([0]))
                          else:
                            out.append(gradient)
                        return out
                        """,
                        retainGraph));
    }

    /**
     * Returns the gradients of a loss.
     *
     * @param loss computes a scalar, which is freed with its graph; its manager will own the
     *     gradients
     * @param by parameters and inputs to differentiate by, at least one, none twice
     * @return a gradient for each, empty where the loss does not depend on it; two may share their
     *     memory
     * @throws IllegalArgumentException if the loss is no scalar, or depends on nothing that
     *     requires a gradient
     */
    public static NDList gradients(Supplier<NDArray> loss, List<NDArray> by) {
        return gradients(
                loss,
                y -> {
                    checkArgument(y.size() == 1, "loss: one value expected, got %s", y.getShape());
                    checkArgument(
                            y.getDataType() == DataType.FLOAT32
                                    || y.getDataType() == DataType.FLOAT64,
                            "loss: expected float32, got %s; Tensors.toFloat32 makes it",
                            y.getDataType());
                    checkArgument(
                            requiresGradient(y), "the loss depends on nothing that is learned");
                    return y.onesLike();
                },
                by);
    }

    /**
     * Returns the gradients of an array weighted by another.
     *
     * @param forward computes the array
     * @param weight the gradient by the array
     */
    static NDList gradients(
            Supplier<NDArray> forward, UnaryOperator<NDArray> weight, List<NDArray> by) {
        try (Tape tape = new Tape(by)) {
            NDArray y = tape.record(forward);
            NDManager owner = y.getManager();
            NDList gradients = tape.backward(y, weight.apply(y));
            gradients.attach(owner);
            return gradients;
        }
    }

    /** Returns whether an array is, or depends on, one that requires a gradient. */
    static boolean requiresGradient(NDArray x) {
        // DJL's hasGradient is false for all that was computed.
        try (NDArray answer = REQUIRES_GRADIENT.run(x)) {
            return answer.getBoolean();
        }
    }

    /**
     * Returns the gradients of {@code y} weighted by {@code dy}.
     *
     * @param intact whether the graph of {@code y} may be gone through again
     */
    static NDList product(NDArray y, NDArray dy, List<NDArray> by, boolean intact) {
        Script product = intact ? PRODUCT_OF_MANY : PRODUCT;
        return ProcessGroup.current()
                .told(() -> product.runLists(List.of(List.of(y), by, List.of(dy))));
    }
}

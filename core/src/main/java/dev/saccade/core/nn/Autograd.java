package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.Text;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.ops.script.Script;

import java.util.List;
import java.util.function.Supplier;

/**
 * Computes gradients, with support for {@link ActivationCheckpointing}. Uses libtorch's {@code
 * autograd.grad}, which needs no {@code zero_grad}.
 */
public final class Autograd {

    private static final Script PRODUCT = product("False");

    /** Retains the graph for further backward passes through parts of it. */
    private static final Script PRODUCT_RETAINING_GRAPH = product("True");

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

    /** Starts recording this thread for gradients with respect to distinct arrays {@code by}. */
    public static Tape record(List<NDArray> by) {
        return new Tape(by).start();
    }

    /** Returns the gradients of a loss with respect to {@code by}; see {@link Tape#backward}. */
    public static NDList gradients(Supplier<NDArray> loss, List<NDArray> by) {
        try (Tape tape = record(by)) {
            return tape.backward(loss.get());
        }
    }

    /** Returns the gradients of the result of {@code forward}, weighted by {@code weight}. */
    static NDList gradients(Supplier<NDArray> forward, NDArray weight, List<NDArray> by) {
        try (Tape tape = record(by)) {
            return tape.backward(forward.get(), weight);
        }
    }

    /** Returns whether an array requires a gradient or depends on one that does. */
    static boolean requiresGradient(NDArray x) {
        // DJL's hasGradient is false for computed arrays.
        try (NDArray result = REQUIRES_GRADIENT.run(x)) {
            return result.getBoolean();
        }
    }

    /** Returns the gradients of {@code y} weighted by {@code dy}; optionally retains the graph. */
    static NDList product(NDArray y, NDArray dy, List<NDArray> by, boolean retainGraph) {
        Script product = retainGraph ? PRODUCT_RETAINING_GRAPH : PRODUCT;
        return ProcessGroup.current()
                .runCollective(() -> product.runLists(List.of(List.of(y), by, List.of(dy))));
    }
}

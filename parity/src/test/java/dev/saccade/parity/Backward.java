package dev.saccade.parity;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.training.GradientCollector;

import dev.saccade.core.nn.Module;

import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Computes and compares gradients. */
final class Backward {

    private Backward() {}

    /** Returns a scalar after its backward pass. */
    static NDArray run(Supplier<NDArray> loss) {
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            NDArray scalar = loss.get();
            collector.backward(scalar);
            return scalar;
        }
    }

    /**
     * Compares outputs with {@code out<i>} or {@code stage<i>} and, if cotangents {@code ct<i>} are
     * recorded, the gradients of {@code loss = sum_i (out<i> * ct<i>).sum()} for inputs and
     * parameters.
     *
     * @param inputs inputs by recorded name
     */
    static void compare(
            Case recorded,
            Map<String, NDArray> inputs,
            Module module,
            Supplier<List<NDArray>> forward) {
        recorded.settings().describes("grad_tolerance");
        Tolerance stated = Tolerance.parse(recorded.settings().text("tolerance"));
        if (!recorded.has("ct0")) {
            outputs(recorded, forward.get(), stated);
            return;
        }
        inputs.values().forEach(input -> input.setRequiresGradient(true));
        NDArray magnitude = recorded.manager().create(0f);
        NDArray loss =
                run(
                        () -> {
                            List<NDArray> outputs = forward.get();
                            outputs(recorded, outputs, stated);
                            NDArray sum = recorded.manager().create(0f);
                            for (int i = 0; i < outputs.size(); i++) {
                                NDArray product = outputs.get(i).mul(recorded.tensor("ct" + i));
                                magnitude.addi(product.abs().sum());
                                sum = sum.add(product.sum());
                            }
                            return sum;
                        });
        if (recorded.has("loss")) {
            // Positive and negative products cancel in the sum, so the tolerance uses their
            // magnitude.
            double allowed = 1e-5 * magnitude.getFloat();
            recorded.compare("loss", loss.reshape(1), Tolerance.absolute(allowed));
        }
        inputs(recorded, inputs);
        parameters(recorded, module);
    }

    /**
     * Compares the only output with {@code out} and, if the cotangent {@code ct} is recorded, the
     * gradients of the inputs.
     *
     * @param inputs inputs by recorded name
     */
    static void compareOne(Case recorded, Map<String, NDArray> inputs, Supplier<NDArray> forward) {
        recorded.settings().describes("grad_tolerance");
        Tolerance stated = Tolerance.parse(recorded.settings().text("tolerance"));
        if (!recorded.has("ct")) {
            recorded.compare("out", forward.get(), stated);
            return;
        }
        inputs.values().forEach(input -> input.setRequiresGradient(true));
        run(
                () -> {
                    NDArray output = forward.get();
                    recorded.compare("out", output, stated);
                    return output.mul(recorded.tensor("ct")).sum();
                });
        inputs(recorded, inputs);
    }

    private static void inputs(Case recorded, Map<String, NDArray> inputs) {
        Tolerance stated = Tolerance.parse(recorded.settings().text("grad_tolerance"));
        inputs.forEach(
                (name, input) -> {
                    if (recorded.has("grad_" + name)) {
                        recorded.compare("grad_" + name, input.getGradient(), stated);
                    }
                });
    }

    private static void outputs(Case recorded, List<NDArray> outputs, Tolerance tolerance) {
        String name = recorded.has("stage0") ? "stage" : "out";
        for (int i = 0; i < outputs.size(); i++) {
            recorded.compare(name + i, outputs.get(i), tolerance);
        }
    }

    /** Compares the recorded gradients of parameters, {@code grad:<name>}. */
    static void parameters(Case recorded, Module module, Tolerance tolerance) {
        for (String name : recorded.names("grad:")) {
            NDArray parameter =
                    module.namedParameters().get(name.substring("grad:".length())).getArray();
            NDArray gradient = parameter.getGradient();
            // A scalar is recorded as an array with one element.
            boolean isNumber = gradient.getShape().dimension() == 0;
            recorded.compare(name, isNumber ? gradient.reshape(1) : gradient, tolerance);
        }
    }

    /** Compares gradients within the tolerance of the case. */
    static void parameters(Case recorded, Module module) {
        if (recorded.settings().has("grad_tolerance")) {
            String stated = recorded.settings().text("grad_tolerance");
            parameters(recorded, module, Tolerance.parse(stated));
        }
    }
}

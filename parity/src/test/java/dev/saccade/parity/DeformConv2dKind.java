package dev.saccade.parity;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.DeformConv2d;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Deformable convolutions with several settings, and the gradients of all inputs. */
final class DeformConv2dKind implements Kind {

    @Override
    public void run(Case recorded) {
        Tolerance stated = Tolerance.parse(recorded.settings().text("tolerance"));
        Tolerance ofGradients = Tolerance.parse(recorded.settings().text("grad_tolerance"));
        List<Settings> configs = recorded.settings().objects("config");
        for (int k = 0; k < configs.size(); k++) {
            run(recorded, configs.get(k), Integer.toString(k), stated, ofGradients);
        }
    }

    private static void run(
            Case recorded, Settings config, String k, Tolerance stated, Tolerance ofGradients) {
        // The operator infers these from the shapes.
        config.describes("input", "out_channels", "kernel", "groups", "offset_groups", "offsets");
        DeformConv2d operator =
                new DeformConv2d(
                        config.integers("stride"),
                        config.integers("padding"),
                        config.integers("dilation"));
        Map<String, NDArray> inputs = new LinkedHashMap<>();
        for (String name : List.of("x", "offset", "weight")) {
            inputs.put(name, recorded.tensor(name + k));
        }
        if (config.flag("modulated")) {
            inputs.put("mask", recorded.tensor("mask" + k));
        }
        if (config.flag("bias")) {
            inputs.put("bias", recorded.tensor("bias" + k));
        }
        inputs.values().forEach(input -> input.setRequiresGradient(true));
        Backward.run(
                () -> {
                    NDArray y =
                            operator.run(
                                    inputs.get("x"),
                                    inputs.get("offset"),
                                    inputs.get("mask"),
                                    inputs.get("weight"),
                                    inputs.get("bias"));
                    recorded.compare("out" + k, y, stated);
                    return y.mul(recorded.tensor("ct" + k)).sum();
                });
        inputs.forEach(
                (name, input) ->
                        recorded.compare("grad_" + name + k, input.getGradient(), ofGradients));
        String other = "grad_offset_mmcv" + k;
        if (recorded.has(other)) {
            // mmcv has no gradient at row and column -1; elsewhere it is equal.
            NDArray known = recorded.tensor(other).neq(0);
            NDArray found = inputs.get("offset").getGradient();
            NDArray there = found.mul(known.toType(found.getDataType(), false));
            recorded.compare(other, there, ofGradients);
        }
    }
}

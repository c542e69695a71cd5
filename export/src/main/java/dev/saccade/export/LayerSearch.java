package dev.saccade.export;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;

import com.google.common.collect.Lists;

import dev.saccade.core.Text;
import dev.saccade.export.Graph.Node;
import dev.saccade.export.Graph.Value;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the first operator whose result deviates from the original. Records the model at the size
 * of the given images and compares the results of all operators before top-k and NMS, 40 at a time.
 */
record LayerSearch(ModelExport export, ExportFormat format, Path folder) {

    private static final Set<String> COMPARED = Set.of("Float", "Half", "BFloat16");
    private static final Set<String> SELECTING = Set.of("aten::topk", Graph.NMS);
    private static final int AT_ONCE = 40;

    /** Describes the first operator above the limit: name, last weight used, and deviation. */
    Optional<String> find(NDList inputs, double limit) {
        Graph rerecorded = export.settings().recorder().record(inputs.get(0).getShape());
        Set<Value> recorded = Set.copyOf(rerecorded.results());
        String layer = "the input";
        Map<Value, String> layers = new LinkedHashMap<>();
        Set<Value> selected = new HashSet<>();
        for (Node node : export.graph().nodes()) {
            if (SELECTING.contains(node.name()) || node.inputs().anyMatch(selected::contains)) {
                // Not compared: rounding may change the order of nearly equal values.
                selected.addAll(node.results());
                continue;
            }
            layer = weight(node).orElse(layer);
            Value result = node.result();
            if (COMPARED.contains(result.type()) && recorded.contains(result)) {
                layers.put(result, Text.format("%s of %s", node.name(), layer));
            }
        }
        for (List<Value> some : Lists.partition(List.copyOf(layers.keySet()), AT_ONCE)) {
            List<Double> deviations = deviations(some, rerecorded, inputs);
            for (int i = 0; i < some.size(); i++) {
                if (deviations.get(i) > limit) {
                    return Optional.of(
                            Text.format("%s, by %.1e", layers.get(some.get(i)), deviations.get(i)));
                }
            }
        }
        return Optional.empty();
    }

    private List<Double> deviations(List<Value> compared, Graph rerecorded, NDList inputs) {
        List<Double> deviations = new ArrayList<>();
        try (NDManager manager = inputs.get(0).getManager().newSubManager();
                ExportedProgram program = export.open(format, compared, folder)) {
            NDList expected = GraphScript.run(rerecorded.withOutputs(compared), inputs, manager);
            expected.attach(manager);
            NDList got = program.run(inputs);
            got.attach(manager);
            for (int i = 0; i < compared.size(); i++) {
                deviations.add(ExportCheck.deviation(expected.get(i), got.get(i)));
            }
        }
        return deviations;
    }

    private Optional<String> weight(Node node) {
        return node.inputs()
                .map(export.graph().weights()::get)
                .filter(weight -> weight != null && weight.name().contains("."))
                .findFirst()
                .map(Graph.Weight::name);
    }
}

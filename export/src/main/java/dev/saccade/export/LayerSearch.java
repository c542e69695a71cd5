package dev.saccade.export;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;

import com.google.common.collect.Lists;

import dev.saccade.core.Text;
import dev.saccade.export.Graph.Node;
import dev.saccade.export.Graph.Value;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the first operator of an exported model that deviates from the model, before objects are
 * selected. Records the model again for the given images and compares the results of all operators,
 * some at a time.
 *
 * @param file temporary file for exported models
 */
record LayerSearch(ModelExport export, ExportFormat format, Path file) {

    private static final Set<String> COMPARED = Set.of("Float", "Half", "BFloat16");
    private static final Set<String> SELECTING = Set.of("aten::topk", Detecting.NMS);
    private static final int AT_ONCE = 40;

    /**
     * Returns what the first operator is called that is farther off than a limit, by the weight
     * that it has or the last one before it.
     *
     * @param inputs those of the exported model
     */
    Optional<String> first(NDList inputs, double limit) {
        Graph here = export.settings().recorder().record(inputs.get(0).getShape());
        List<Value> given = here.results();
        Map<Value, Value> ours = new HashMap<>();
        for (int i = 0; i < given.size(); i++) {
            ours.put(export.recorded().get(i), given.get(i));
        }
        String layer = "the input";
        Map<Value, String> layers = new HashMap<>();
        List<Value> compared = new ArrayList<>();
        Set<Value> selected = new HashSet<>();
        for (Node node : export.whole().nodes()) {
            if (SELECTING.contains(node.name()) || node.taken().anyMatch(selected::contains)) {
                // What is chosen from values alike may be another one.
                selected.addAll(node.results());
                continue;
            }
            layer = weight(node).orElse(layer);
            Value result = node.result();
            if (COMPARED.contains(result.type()) && ours.containsKey(result)) {
                layers.put(result, Text.format("%s of %s", node.name(), layer));
                compared.add(result);
            }
        }
        for (List<Value> some : Lists.partition(compared, AT_ONCE)) {
            List<Double> apart =
                    deviations(some, some.stream().map(ours::get).toList(), here, inputs);
            for (int i = 0; i < some.size(); i++) {
                if (apart.get(i) > limit) {
                    return Optional.of(
                            Text.format("%s, by %.1e", layers.get(some.get(i)), apart.get(i)));
                }
            }
        }
        return Optional.empty();
    }

    private List<Double> deviations(
            List<Value> theirs, List<Value> ours, Graph here, NDList inputs) {
        export.write(format, theirs, file);
        List<Double> apart = new ArrayList<>();
        try (NDManager manager = inputs.get(0).getManager().newSubManager();
                ExportedProgram program = format.open(file)) {
            NDList expected = GraphScript.run(here.withOutputs(ours), inputs, manager);
            expected.attach(manager);
            NDList got = program.run(inputs);
            got.attach(manager);
            for (int i = 0; i < ours.size(); i++) {
                apart.add(ExportCheck.deviation(expected.get(i), got.get(i)));
            }
        }
        return apart;
    }

    private Optional<String> weight(Node node) {
        return node.taken()
                .map(export.whole().weights()::get)
                .filter(weight -> weight != null && weight.name().contains("."))
                .findFirst()
                .map(Graph.Weight::name);
    }
}

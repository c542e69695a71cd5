package dev.saccade.export;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;

import com.google.common.collect.ImmutableList;

import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.NoGrad;
import dev.saccade.core.ops.script.Script;
import dev.saccade.export.Graph.Value;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Runs a graph of libtorch operators. */
final class GraphScript {

    private static final String SIGNATURE = "(x: List[Tensor]) -> List[Tensor]";

    private GraphScript() {}

    /** Runs a graph and returns its outputs; {@code manager} owns copies of the weights. */
    static NDList run(Graph graph, List<NDArray> inputs, NDManager manager) {
        List<NDArray> given = new ArrayList<>(inputs);
        List<Value> named = new ArrayList<>(graph.inputs().subList(0, inputs.size()));
        named.addAll(graph.weights().keySet());
        graph.weights().values().forEach(weight -> given.add(array(weight.tensor(), manager)));
        Map<Value, String> names = new HashMap<>();
        for (int i = 0; i < named.size(); i++) {
            names.put(named.get(i), "x[" + i + "]");
        }
        // New tensors are created on the device of the first input.
        Graph singleInput =
                new Graph(
                        ImmutableList.of(named.get(0)),
                        graph.weights(),
                        graph.nodes(),
                        graph.outputs());
        Script script =
                Script.compile(SIGNATURE, new TorchScriptCode(singleInput, names).body("[", "]"));
        return NoGrad.call(() -> script.runLists(List.of(given)));
    }

    private static NDArray array(Tensor tensor, NDManager manager) {
        DataType type = DataType.valueOf(tensor.type().name());
        return type == DataType.FLOAT32
                ? tensor.array(manager)
                : Tensors.of(manager, tensor.data(), tensor.shape(), type);
    }
}

package dev.saccade.checkpoint.weights;

import ai.djl.ndarray.types.Shape;

import com.google.common.collect.Maps;
import com.google.common.primitives.ImmutableLongArray;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.conversion.IndexTable;
import dev.saccade.core.conversion.IndexTable.Parameter;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Adds the index tables that Python classes store beside their weights. */
final class IndexTables {

    private IndexTables() {}

    /** Returns a checkpoint of official names with its index tables. */
    static Checkpoint addTo(Checkpoint checkpoint, List<IndexTable> tables) {
        Map<String, Shape> shapes = Maps.transformValues(checkpoint.tensors(), Tensor::shape);
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        for (Map.Entry<String, Tensor> entry : checkpoint.tensors().entrySet()) {
            tensors.put(entry.getKey(), entry.getValue());
            tables.forEach(table -> addBeside(entry.getKey(), shapes, table, tensors));
        }
        return new Checkpoint(tensors, checkpoint.metadata());
    }

    private static void addBeside(
            String name, Map<String, Shape> shapes, IndexTable table, Map<String, Tensor> tensors) {
        Optional<Map<String, String>> places = table.beside().read(name);
        if (places.isPresent()) {
            table.values()
                    .apply(new Parameter(shapes.get(name), places.get(), shapes))
                    .map(IndexTables::tensor)
                    .ifPresent(tensor -> tensors.put(table.name().write(places.get()), tensor));
        }
    }

    private static Tensor tensor(IndexTable.Values values) {
        ImmutableLongArray elements = values.elements();
        ByteBuffer bytes =
                ByteBuffer.allocate(elements.length() * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        elements.forEach(bytes::putLong);
        return new Tensor(ElementType.INT64, values.shape(), bytes.flip());
    }
}

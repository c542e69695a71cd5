package dev.saccade.checkpoint;

import ai.djl.ndarray.types.Shape;

import com.google.common.collect.Maps;
import com.google.common.primitives.ImmutableLongArray;

import dev.saccade.core.conversion.IndexTable;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Adds the tables that Python classes store beside their weights. */
final class IndexTables {

    private IndexTables() {}

    /** Returns a checkpoint of official names with the index tables that belong to it. */
    static Checkpoint addTo(Checkpoint checkpoint, List<IndexTable> tables) {
        Map<String, Shape> shapes = Maps.transformValues(checkpoint.tensors(), Tensor::shape);
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        checkpoint
                .tensors()
                .forEach(
                        (name, tensor) -> {
                            tensors.put(name, tensor);
                            tables.forEach(table -> addBeside(name, shapes, table, tensors));
                        });
        return new Checkpoint(tensors, checkpoint.metadata());
    }

    private static void addBeside(
            String name, Map<String, Shape> shapes, IndexTable table, Map<String, Tensor> tensors) {
        table.beside()
                .read(name)
                .ifPresent(
                        places ->
                                table.values()
                                        .apply(
                                                new IndexTable.Parameter(
                                                        shapes.get(name), places, shapes))
                                        .ifPresent(
                                                values ->
                                                        tensors.put(
                                                                table.name().write(places),
                                                                tensor(values))));
    }

    private static Tensor tensor(IndexTable.Values values) {
        ImmutableLongArray elements = values.elements();
        ByteBuffer bytes =
                ByteBuffer.allocate(elements.length() * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        elements.forEach(bytes::putLong);
        return new Tensor(ElementType.INT64, values.shape(), bytes.flip());
    }
}

package dev.saccade.checkpoint.weights;

import ai.djl.ndarray.types.Shape;

import com.google.common.collect.Iterables;

import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.conversion.NameTable;
import dev.saccade.core.conversion.NameTable.Part;

import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Tensors that another library stores in parts along the first axis, such as query, key and value
 * apart.
 */
final class JoinedTensors {

    /** The parts of a tensor by their index, and their names in the checkpoint. */
    private static final class Parts {

        private final TreeMap<Integer, Tensor> tensors = new TreeMap<>();
        private final TreeMap<Integer, String> names = new TreeMap<>();
        private int count;
    }

    private final Map<String, Parts> joined = new LinkedHashMap<>();

    /** Adds a part. */
    void add(String name, Tensor tensor, NameTable.Renamed renamed) {
        Parts parts = joined.computeIfAbsent(renamed.name(), key -> new Parts());
        Part part = renamed.part().orElseThrow();
        parts.count = part.count();
        parts.tensors.put(part.index(), tensor);
        parts.names.put(part.index(), name);
    }

    /**
     * Returns the joined tensors.
     *
     * @throws SaccadeException of kind user, if a part is missing or parts have different shapes
     */
    Map<String, Tensor> tensors() {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        joined.forEach((name, parts) -> tensors.put(name, join(name, parts)));
        return tensors;
    }

    private static Tensor join(String name, Parts parts) {
        Collection<Tensor> tensors = parts.tensors.values();
        Tensor first = Iterables.getFirst(tensors, null);
        Shape shape = first.shape();
        boolean isWhole = tensors.size() == parts.count && shape.dimension() > 0;
        boolean isEqual =
                tensors.stream().allMatch(t -> t.shape().equals(shape) && t.type() == first.type());
        if (!isWhole || !isEqual) {
            throw SaccadeException.user(
                    "%s: expected %d tensors of one shape to join, got %s of shapes %s",
                    name,
                    parts.count,
                    parts.names.values(),
                    tensors.stream().map(Tensor::shape).toList());
        }
        long[] sizes = shape.getShape().clone();
        sizes[0] = Math.multiplyExact(sizes[0], parts.count);
        ByteBuffer bytes =
                ByteBuffer.allocate(
                        Math.toIntExact(Math.multiplyExact(first.length(), parts.count)));
        tensors.forEach(tensor -> bytes.put(tensor.data()));
        return new Tensor(first.type(), new Shape(sizes), bytes.flip());
    }
}

package dev.saccade.train.hooks;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableMap;

import dev.saccade.checkpoint.ElementType;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.SaccadeException;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.Map;

/** State of a hook in a checkpoint: numbers and arrays by name, restored bit for bit. */
public final class HookState {

    private final Map<String, Tensor> tensors = new LinkedHashMap<>();

    public HookState() {}

    public HookState(Map<String, Tensor> tensors) {
        this.tensors.putAll(tensors);
    }

    public Map<String, Tensor> tensors() {
        return ImmutableMap.copyOf(tensors);
    }

    public void put(String name, double number) {
        ByteBuffer bytes = ByteBuffer.allocate(Double.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        put(name, new Tensor(ElementType.FLOAT64, new Shape(), bytes.putDouble(0, number)));
    }

    /** Stores a copy of a float32 array. */
    public void put(String name, NDArray array) {
        checkArgument(
                array.getDataType() == DataType.FLOAT32,
                "%s: got %s, expected float32",
                name,
                array.getDataType());
        put(name, Tensor.of(array));
    }

    private void put(String name, Tensor tensor) {
        checkArgument(
                tensors.put(name, tensor) == null, "%s: already stored; use another name", name);
    }

    /** Returns a stored number. Fails if it is missing. */
    public double number(String name) {
        return get(name, ElementType.FLOAT64, new Shape()).data().getDouble();
    }

    /** Copies a stored array to {@code array}. Fails if it is missing or has another shape. */
    public void copyTo(String name, NDArray array) {
        get(name, ElementType.FLOAT32, array.getShape()).copyTo(array);
    }

    private Tensor get(String name, ElementType type, Shape shape) {
        Tensor tensor = tensors.get(name);
        if (tensor == null || tensor.type() != type || !tensor.shape().equals(shape)) {
            throw SaccadeException.user(
                    "%s: got %s, expected %s %s",
                    name, tensor == null ? "no value" : tensor, type, shape);
        }
        return tensor;
    }
}

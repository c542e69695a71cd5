package dev.saccade.parity;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;

import com.google.common.primitives.Doubles;

import java.util.Arrays;
import java.util.List;

/**
 * A recorded array in row-major order, as doubles, which represent float32, uint8, bool and the
 * recorded int64 values exactly.
 */
final class NumpyArray {

    private final long[] shape;
    private final double[] values;

    /** Creates an array; a scalar has an empty shape. */
    NumpyArray(long[] shape, double[] values) {
        this.shape = shape;
        this.values = values;
    }

    static NumpyArray of(NDArray array) {
        NDArray doubles = array.toType(DataType.FLOAT64, false);
        return new NumpyArray(array.getShape().getShape(), doubles.toDoubleArray());
    }

    static NumpyArray of(double... values) {
        return new NumpyArray(new long[] {values.length}, values);
    }

    static NumpyArray of(List<Double> values) {
        return of(Doubles.toArray(values));
    }

    static NumpyArray of(float... values) {
        double[] doubles = new double[values.length];
        Arrays.setAll(doubles, i -> values[i]);
        return of(doubles);
    }

    static NumpyArray of(int... values) {
        return of(Arrays.stream(values).asDoubleStream().toArray());
    }

    long[] shape() {
        return shape;
    }

    double[] values() {
        return values;
    }

    int size() {
        return values.length;
    }

    int size(int axis) {
        return Math.toIntExact(shape[axis]);
    }

    NumpyArray reshape(long... dimensions) {
        return new NumpyArray(dimensions, values);
    }

    /** Returns columns {@code from} to {@code to - 1}. */
    NumpyArray columns(int from, int to) {
        int width = to - from;
        double[] selected = new double[size(0) * width];
        for (int i = 0; i < selected.length; i++) {
            selected[i] = values[i / width * size(1) + from + i % width];
        }
        return new NumpyArray(new long[] {size(0), width}, selected);
    }

    /**
     * Unpacks bits of {@code numpy.packbits}, highest bit first; {@code dimensions} has the
     * result's shape.
     */
    NumpyArray unpackBits(NumpyArray dimensions) {
        long[] unpacked = Arrays.stream(dimensions.values).mapToLong(d -> (long) d).toArray();
        double[] bits = new double[(int) Arrays.stream(unpacked).reduce(1, Math::multiplyExact)];
        Arrays.setAll(bits, i -> (int) values[i / 8] >> (7 - i % 8) & 1);
        return new NumpyArray(unpacked, bits);
    }

    float[] floats() {
        float[] floats = new float[values.length];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = (float) values[i];
        }
        return floats;
    }

    int[] ints() {
        return Arrays.stream(values).mapToInt(value -> (int) value).toArray();
    }

    byte[] bytes() {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return bytes;
    }

    NDArray tensor(NDManager manager) {
        return manager.create(floats(), new Shape(shape));
    }

    double maxAbs() {
        return Arrays.stream(values).map(Math::abs).max().orElse(0);
    }

    /** Returns the index of element {@code i}, such as {@code [1, 0, 7]}. */
    String position(int i) {
        long[] index = new long[shape.length];
        long rest = i;
        for (int axis = shape.length - 1; axis >= 0; axis--) {
            index[axis] = rest % shape[axis];
            rest /= shape[axis];
        }
        return Arrays.toString(index);
    }
}

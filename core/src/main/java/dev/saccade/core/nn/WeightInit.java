package dev.saccade.core.nn;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.ops.Tensors;

import java.util.Arrays;
import java.util.SplittableRandom;

/** Initializer of a parameter, like {@code torch.nn.init}. */
@FunctionalInterface
public interface WeightInit {

    WeightInit ZEROS = constant(0);

    WeightInit ONES = constant(1);

    /** Sets all {@code values}, row-major; {@code shape} is for example {@code [out, in, ...]}. */
    void fill(float[] values, Shape shape, SplittableRandom random);

    /** Returns a new initialized array that owns its memory. */
    default NDArray create(NDManager manager, Shape shape, SplittableRandom random) {
        float[] values = new float[Math.toIntExact(shape.size())];
        fill(values, shape, random);
        return Tensors.of(manager, values, shape);
    }

    static WeightInit constant(float value) {
        return (values, shape, random) -> Arrays.fill(values, value);
    }

    /** Normal distribution with mean 0. */
    static WeightInit normal(double std) {
        return (values, shape, random) -> {
            for (int i = 0; i < values.length; i++) {
                values[i] = (float) (random.nextGaussian() * std);
            }
        };
    }

    /** Normal distribution, resampled until in [-2, 2], like timm's {@code trunc_normal_}. */
    static WeightInit truncatedNormal(double std) {
        return (values, shape, random) -> {
            for (int i = 0; i < values.length; i++) {
                double value;
                do {
                    value = random.nextGaussian() * std;
                } while (Math.abs(value) > 2);
                values[i] = (float) value;
            }
        };
    }

    /** Uniform distribution between {@code -bound} and {@code bound}. */
    static WeightInit uniform(double bound) {
        return (values, shape, random) -> {
            for (int i = 0; i < values.length; i++) {
                values[i] = (float) (random.nextDouble() * 2 * bound - bound);
            }
        };
    }

    /** He et al. 2015: normal with variance {@code 2 / fan_out}. */
    static WeightInit kaimingNormal() {
        return (values, shape, random) ->
                normal(Math.sqrt(2.0 / (shape.get(0) * receptiveField(shape))))
                        .fill(values, shape, random);
    }

    /** Glorot and Bengio 2010: uniform with bound {@code sqrt(6 / (fan_in + fan_out))}. */
    static WeightInit xavierUniform() {
        return (values, shape, random) -> {
            long fans = (shape.get(0) + shape.get(1)) * receptiveField(shape);
            uniform(Math.sqrt(6.0 / fans)).fill(values, shape, random);
        };
    }

    private static long receptiveField(Shape shape) {
        return shape.slice(2).size();
    }
}

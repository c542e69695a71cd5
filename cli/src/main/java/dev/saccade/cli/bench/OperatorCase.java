package dev.saccade.cli.bench;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.ops.ElsaAttention;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * An operator at a size that models have.
 *
 * @param name of the operator
 * @param size what it is given, for people
 * @param inputs shapes of its inputs, all of which have gradients
 * @param operations additions and multiplications of the forward pass
 * @param numbers floats that the forward pass cannot but read or write
 * @param operator from inputs to result
 */
record OperatorCase(
        String name,
        String size,
        List<Shape> inputs,
        long operations,
        long numbers,
        Function<NDList, NDArray> operator) {

    /** Channels of a head in all these models. */
    private static final int DEPTH = 32;

    /** Returns the operators at the stages of the tiny models for so many images of 224 x 224. */
    static List<OperatorCase> all(int images) {
        ImmutableList.Builder<OperatorCase> cases = ImmutableList.builder();
        for (int stage = 0; stage < 3; stage++) {
            cases.add(elsa(images, 56 >> stage, 3 << stage));
        }
        return cases.build();
    }

    private static OperatorCase elsa(int images, int side, int heads) {
        int kernel = 7;
        int taps = kernel * kernel;
        int channels = heads * DEPTH;
        Shape map = new Shape(images, side, side);
        ElsaAttention attention = new ElsaAttention(kernel, 1, 0, 1);
        return new OperatorCase(
                "elsa_attention",
                size(images, side, channels),
                List.of(
                        map.add(channels),
                        map.add((long) heads * taps),
                        new Shape(1, channels, kernel, kernel)),
                4L * taps * map.size() * channels,
                map.size() * (2L * channels + (long) heads * taps),
                in -> attention.attend(in.get(0), in.get(1), Optional.of(in.get(2))));
    }

    private static String size(int images, int side, int channels) {
        return "%d x %d x %d x %d".formatted(images, side, side, channels);
    }
}

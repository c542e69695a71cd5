package dev.saccade.checkpoint.weights;

import ai.djl.ndarray.types.Shape;

import dev.saccade.checkpoint.Tensor;

import java.nio.FloatBuffer;

/**
 * How weights of RGB images initialize the first convolution of a model with other channels. {@link
 * #MEAN} and {@link #COPY} scale the weights by 3 / channels to keep the scale of the output.
 */
public enum StemInit {
    /** Repeats the weights of red, green and blue, like timm; {@link #MEAN} below 3 channels. */
    COPY,
    /** Uses the mean of red, green and blue for every channel. */
    MEAN,
    /** Uses red, green and blue for the first channels, and 0 for the others. */
    ZERO;

    private static final int RGB = 3;

    /** Returns whether a tensor and a parameter are first convolutions of different channels. */
    static boolean applies(Shape from, Shape to) {
        return from.dimension() == 4
                && to.dimension() == 4
                && from.get(1) == RGB
                && to.get(1) != RGB
                && from.get(0) == to.get(0)
                && from.get(2) == to.get(2)
                && from.get(3) == to.get(3);
    }

    /** Returns weights {@code [out, C, k, k]} from {@code [out, 3, k, k]}. */
    Tensor extend(Tensor rgb, Shape shape) {
        FloatBuffer from = rgb.floats();
        float[] values = new float[Math.toIntExact(shape.size())];
        int channels = (int) shape.get(1);
        int area = (int) (shape.get(2) * shape.get(3));
        for (int out = 0; out < shape.get(0); out++) {
            for (int channel = 0; channel < channels; channel++) {
                for (int i = 0; i < area; i++) {
                    values[(out * channels + channel) * area + i] =
                            value(from, out * RGB * area + i, area, channel, channels);
                }
            }
        }
        return Tensor.of(shape, values);
    }

    private float value(FloatBuffer from, int at, int area, int channel, int channels) {
        if (this == ZERO) {
            return channel < RGB ? from.get(at + channel * area) : 0;
        }
        if (this == COPY && channels > RGB) {
            return from.get(at + channel % RGB * area) * RGB / channels;
        }
        float sum = from.get(at) + from.get(at + area) + from.get(at + 2 * area);
        return sum / channels;
    }
}

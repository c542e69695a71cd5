package dev.saccade.checkpoint;

import ai.djl.ndarray.types.Shape;

import java.nio.ByteBuffer;
import java.util.function.IntUnaryOperator;

/** How the elements of a tensor of another library differ from ours, where a name is not all. */
enum Reordering {
    /** They do not. */
    NONE {
        @Override
        Tensor toOurs(Tensor theirs) {
            return theirs;
        }

        @Override
        Tensor toTheirs(Tensor ours) {
            return ours;
        }
    },

    /**
     * The input of patch merging, the last axis: theirs unfolds it, the four pixels of a cell for
     * each channel, row by row; ours has all channels for each pixel, column by column.
     */
    UNFOLD {
        @Override
        Tensor toOurs(Tensor theirs) {
            int channels = last(theirs) / PIXELS.length;
            return permuted(theirs, at -> at % channels * PIXELS.length + PIXELS[at / channels]);
        }

        @Override
        Tensor toTheirs(Tensor ours) {
            int channels = last(ours) / PIXELS.length;
            return permuted(ours, at -> PIXELS[at % PIXELS.length] * channels + at / PIXELS.length);
        }
    },

    /** A square table of theirs lies in one row. */
    FLAT {
        @Override
        Tensor toOurs(Tensor theirs) {
            long side = Math.round(Math.sqrt((double) theirs.elements()));
            return new Tensor(theirs.type(), new Shape(side, side), theirs.data());
        }

        @Override
        Tensor toTheirs(Tensor ours) {
            return new Tensor(ours.type(), new Shape(ours.elements()), ours.data());
        }
    };

    /** Where a pixel of the one order stands in the other; its own inverse. */
    private static final int[] PIXELS = {0, 2, 1, 3};

    abstract Tensor toOurs(Tensor theirs);

    abstract Tensor toTheirs(Tensor ours);

    private static int last(Tensor tensor) {
        Shape shape = tensor.shape();
        return Math.toIntExact(shape.get(shape.dimension() - 1));
    }

    /** Returns the tensor with element {@code source(i)} of the last axis at {@code i}. */
    private static Tensor permuted(Tensor tensor, IntUnaryOperator source) {
        int length = last(tensor);
        int bytes = tensor.type().bytes();
        ByteBuffer from = tensor.data();
        ByteBuffer to = ByteBuffer.allocate(from.remaining());
        while (to.hasRemaining()) {
            int row = to.position();
            for (int i = 0; i < length; i++) {
                to.put(to.position(), from, row + source.applyAsInt(i) * bytes, bytes);
                to.position(to.position() + bytes);
            }
        }
        return new Tensor(tensor.type(), tensor.shape(), to.flip());
    }
}

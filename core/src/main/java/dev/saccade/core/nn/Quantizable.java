package dev.saccade.core.nn;

/**
 * A layer that {@link Quantization} can compute with smaller products.
 *
 * @param <F> its fused form
 */
abstract class Quantizable<F extends FusedLayer> extends Layer {

    private boolean quantized;

    /** Sets whether {@link #fuse} chooses 8-bit or bfloat16 products if possible. */
    final void setQuantized(boolean quantized) {
        this.quantized = quantized;
    }

    final boolean isQuantized() {
        return quantized;
    }

    /** Returns whether quantization can change the products of this layer. */
    abstract boolean isQuantizable();

    /** Returns whether this layer computes an output of the model, such as class scores. */
    abstract boolean isOutput();

    /** Returns the fused layer with quantized weights; the caller closes it. */
    abstract F quantizedCopy();
}

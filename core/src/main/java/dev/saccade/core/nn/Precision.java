package dev.saccade.core.nn;

/** Data type of computations. Weights are always float32. */
public enum Precision {
    FLOAT32,

    /** Same range as float32, but three significant digits; needs no loss scaling. */
    BFLOAT16,

    /** Four significant digits, 6e-8 to 65504; needs loss scaling, or small gradients become 0. */
    FLOAT16
}

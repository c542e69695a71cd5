package dev.saccade.core.nn;

/** Data type of computations. Weights are always float32. */
public enum Precision {
    FLOAT32,

    /** Same range as float32, but 8 significant bits; needs no loss scaling. */
    BFLOAT16,

    /** 11 significant bits, 6e-8 to 65504; needs loss scaling, or small gradients become 0. */
    FLOAT16
}

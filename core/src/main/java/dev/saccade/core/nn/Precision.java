package dev.saccade.core.nn;

/** What a model computes in; its weights are float32 whatever it is. */
public enum Precision {
    /** As the weights are. */
    FLOAT32,

    /** Range of float32, three digits: needs no scaled loss. */
    BFLOAT16,

    /** Four digits within 6e-8 and 65504: small gradients vanish unless the loss is scaled. */
    FLOAT16
}

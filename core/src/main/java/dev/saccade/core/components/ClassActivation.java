package dev.saccade.core.components;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.Functional;

/** Function from the logits {@code [N, K]} of a classifier to probabilities. */
public enum ClassActivation {
    SOFTMAX {
        @Override
        public NDArray of(NDArray logits) {
            return logits.softmax(1);
        }
    },
    SIGMOID {
        @Override
        public NDArray of(NDArray logits) {
            return Functional.sigmoid(logits);
        }
    };

    /** Returns {@code [N, K]} probabilities. */
    public abstract NDArray of(NDArray logits);
}

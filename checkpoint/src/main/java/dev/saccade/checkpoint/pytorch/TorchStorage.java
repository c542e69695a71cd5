package dev.saccade.checkpoint.pytorch;

import dev.saccade.checkpoint.ElementType;

/** A storage that tensors of a PyTorch file share; {@code key} is its name in the file. */
record TorchStorage(ElementType type, String key, long elements) {

    long bytes() {
        return Math.multiplyExact(elements, type.bytes());
    }
}

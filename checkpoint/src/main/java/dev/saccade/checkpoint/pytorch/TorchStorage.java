package dev.saccade.checkpoint.pytorch;

import dev.saccade.checkpoint.ElementType;

/**
 * The storage that tensors of a PyTorch file share.
 *
 * @param type what its elements are
 * @param key its name in the file
 * @param elements number of elements
 */
record TorchStorage(ElementType type, String key, long elements) {

    /** Returns its size in bytes. */
    long bytes() {
        return Math.multiplyExact(elements, type.bytes());
    }
}

package dev.saccade.checkpoint.pytorch;

import dev.saccade.checkpoint.CheckpointFile;
import dev.saccade.checkpoint.Tensor;

import java.util.function.ToLongFunction;

/** An array in a pickle: a PyTorch tensor or a NumPy array. */
sealed interface StoredArray permits TorchTensor, NumpyArray {

    /** Returns the bytes from the first element to the last. */
    long span();

    /**
     * Returns the tensor.
     *
     * @param places gives the first byte of a storage in the file
     */
    Tensor read(CheckpointFile file, ToLongFunction<TorchStorage> places);
}

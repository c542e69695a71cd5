package dev.saccade.checkpoint.pytorch;

import dev.saccade.checkpoint.CheckpointFile;
import dev.saccade.checkpoint.Tensor;

/** An array in a pickle: a PyTorch tensor or a NumPy array. */
sealed interface StoredArray permits TorchTensor, NumpyArray {

    /** Returns the bytes from the first element to the last. */
    long span();

    /**
     * Returns the tensor.
     *
     * @param content gives the places of storages in the file
     */
    Tensor read(CheckpointFile file, TorchContent content);
}

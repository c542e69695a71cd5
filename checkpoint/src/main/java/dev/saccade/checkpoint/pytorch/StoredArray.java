package dev.saccade.checkpoint.pytorch;

import dev.saccade.checkpoint.CheckpointFile;
import dev.saccade.checkpoint.Tensor;

/** A PyTorch tensor or NumPy array in a pickle. */
sealed interface StoredArray permits TorchTensor, NumpyArray {

    /** Returns the number of bytes from the first to the last element. */
    long span();

    /** Returns the tensor; {@code content} locates storages in the file. */
    Tensor read(CheckpointFile file, TorchContent content);
}

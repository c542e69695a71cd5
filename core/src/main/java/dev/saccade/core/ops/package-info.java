/** Tensor operators that DJL lacks, by the names and semantics of PyTorch. */
package dev.saccade.core.ops;

/** Tensor operators that DJL lacks, with PyTorch's names and semantics. */
package dev.saccade.core.ops;

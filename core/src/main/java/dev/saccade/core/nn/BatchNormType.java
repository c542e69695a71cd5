package dev.saccade.core.nn;

/** Over which images a batch normalization takes the statistics of a batch. */
public enum BatchNormType {
    /** Those that this rank has. */
    BN,
    /** Those of all ranks that train together (PyTorch's SyncBatchNorm); alone the same as BN. */
    SYNC_BN
}

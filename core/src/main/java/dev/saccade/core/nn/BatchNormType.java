package dev.saccade.core.nn;

/** Scope of batch statistics. */
public enum BatchNormType {
    /** Images of this rank. */
    BN,
    /** Images of all ranks (PyTorch's SyncBatchNorm); the same as BN on a single rank. */
    SYNC_BN
}

package dev.saccade.core.parts;

/** The hyper-parameters of a head: a {@link DetectionHead} or a {@link SegmentationHead}. */
public interface HeadConfig extends ModelPartConfig {

    /** Returns what the head learns from. */
    TargetKind targets();
}

package dev.saccade.core.parts;

/** The hyper-parameters of a head: a {@link DetectionHead} or a {@link SegmentationHead}. */
public interface HeadConfig extends ModelPartConfig {

    /** Returns what the head learns from. */
    TargetKind targets();

    /**
     * Returns how many classes the label maps may have that the head learns from beside objects; 0
     * if it needs none.
     */
    default int semanticClasses() {
        return 0;
    }
}

package dev.saccade.core.parts;

import java.util.Map;

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

    /** The setting that limits the detections of an image. */
    String MAX_PER_IMG = "nms.max_per_img";

    /**
     * Returns the settings that limit how many objects of an image can be detected, by their key in
     * the config of the head, such as {@link #MAX_PER_IMG}; empty if none does.
     */
    default Map<String, Integer> objectLimits() {
        return Map.of();
    }
}

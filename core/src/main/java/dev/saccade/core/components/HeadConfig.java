package dev.saccade.core.components;

import java.util.Map;

/** Settings of a {@link DetectionHead} or {@link SegmentationHead}. */
public interface HeadConfig extends ModelComponentConfig {

    /** Returns the type of training targets. */
    TargetKind targets();

    /** Returns the maximum number of label map classes of a {@link DetectionHead}; 0 if unused. */
    default int semanticClasses() {
        return 0;
    }

    /** Key of the setting that limits the detections per image. */
    String MAX_PER_IMG = "nms.max_per_img";

    /** Returns the limits on objects per image by setting, such as {@link #MAX_PER_IMG}. */
    default Map<String, Integer> objectLimits() {
        return Map.of();
    }
}

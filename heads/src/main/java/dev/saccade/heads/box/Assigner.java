package dev.saccade.heads.box;

import dev.saccade.core.components.ComponentConfig;

/**
 * Assigns ground-truth objects to priors, such as {@code assigner: {type: max_iou, pos_iou_thr:
 * 0.5}}.
 *
 * <p>Arrays are on the device of the features; reading values on the host stalls the GPU.
 */
public interface Assigner extends ComponentConfig {

    /**
     * Assigns an object, background or "ignore" to each prior of an image.
     *
     * @param priors [N] anchors inside the image, or proposals; may be empty
     * @param objects [K] objects in the same coordinates, and ignored regions; may be empty
     */
    Assignment assign(Priors priors, GtInstances objects);
}

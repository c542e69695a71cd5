package dev.saccade.heads.box;

import dev.saccade.core.parts.PartConfig;

/**
 * Says which prior learns which object; a part that YAML names by {@code type}, such as {@code
 * assigner: {type: max_iou, pos_iou_thr: 0.5}}.
 *
 * <p>To bring one of your own, implement this with a record and list the record in a {@link
 * dev.saccade.core.parts.PartProvider}. Arrays are where the features are; on a GPU one that reads
 * values holds up the whole step.
 */
public interface Assigner extends PartConfig {

    /**
     * Assigns an object, background or nothing to each prior of an image.
     *
     * @param priors [N] anchors that lie on the image, or regions; may be none
     * @param objects [K] boxes and labels, in the same coordinates, and the regions whose content
     *     nobody labeled; may be none
     */
    Assignment assign(Priors priors, GtInstances objects);
}

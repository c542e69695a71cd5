package dev.saccade.heads;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;

import java.util.List;
import java.util.Optional;

/**
 * A stage that looks at regions and corrects them; Mask R-CNN has one, a cascade several.
 *
 * @param box says what regions show and moves them
 * @param mask draws what they show; none in a detector of boxes
 * @param assigner which region learns what
 * @param sampler how many regions are trained
 * @param lossWeight weight of the losses of the stage among those of others
 * @param prefix what the names of its losses start with
 * @param index position among the stages
 */
record RoiStage(
        BoxHead box,
        Optional<MaskHead> mask,
        MaxIouAssigner assigner,
        RandomSampler sampler,
        double lossWeight,
        String prefix,
        int index) {

    /** Tells the draws of the samplers from those of all other layers. */
    private static final long DRAWS = 0x526F4900L;

    /**
     * Draws the regions that the stage is trained on.
     *
     * @param proposals of each image
     * @param objects of each image, boxes without area left out
     */
    RoiSamples sample(List<Boxes> proposals, List<Instances> objects, int numClasses) {
        return RoiSamples.of(assigner, sampler, proposals, objects, DRAWS + index, numClasses);
    }
}

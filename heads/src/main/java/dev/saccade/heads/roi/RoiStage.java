package dev.saccade.heads.roi;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.Checks;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.SampleRandom;
import dev.saccade.core.parts.Default;
import dev.saccade.heads.box.Assigner;
import dev.saccade.heads.box.Assignment;
import dev.saccade.heads.box.GtInstances;
import dev.saccade.heads.box.Priors;
import dev.saccade.heads.box.Sampler;
import dev.saccade.heads.box.SamplingResult;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/** A stage that looks at regions and corrects them; Mask R-CNN has one, a cascade several. */
public final class RoiStage {

    /**
     * The hyper-parameters of a stage.
     *
     * @param bboxHead what says what regions show
     * @param assigner which region learns what
     * @param sampler which regions are trained
     * @param lossWeight weight of the losses of the stage among those of the others
     */
    public record Config(
            @Default(
                            "{num_shared_convs: 4, norm: sync_bn, num_shared_fcs: 1,"
                                    + " reg_decoded_bbox: true,"
                                    + " loss_bbox: {type: giou, loss_weight: 10}}")
                    BoxHead.Config bboxHead,
            @Default(
                            "{type: max_iou, pos_iou_thr: 0.5, neg_iou_thr: 0.5, min_pos_iou: 0.5,"
                                    + " match_low_quality: false}")
                    Assigner assigner,
            @Default("{type: random}") Sampler sampler,
            @Default("1") double lossWeight) {

        /** Checks the values. */
        public Config {
            new Checks().within("loss_weight", lossWeight, 0, 1e6).throwIfAny();
        }
    }

    private final Config config;
    private final int index;
    private final String prefix;
    private final BoxHead box;
    private final Optional<MaskHead> mask;

    /**
     * Makes a stage.
     *
     * @param index position among the stages
     * @param prefix what the names of its losses start with
     * @param box classifies and regresses regions
     * @param mask draws what they show; none in a detector of boxes
     */
    RoiStage(Config config, int index, String prefix, BoxHead box, Optional<MaskHead> mask) {
        this.config = config;
        this.index = index;
        this.prefix = prefix;
        this.box = box;
        this.mask = mask;
    }

    Config config() {
        return config;
    }

    int index() {
        return index;
    }

    String prefix() {
        return prefix;
    }

    BoxHead box() {
        return box;
    }

    Optional<MaskHead> mask() {
        return mask;
    }

    /**
     * Draws the regions that a head of the stage is trained on.
     *
     * @param head the box head, or the mask head where that has regions of its own
     * @param candidates of each image
     * @param objects of each image
     * @param numClasses C, the label of background
     */
    RoiSamples sample(
            Module head, List<Candidates> candidates, List<GtInstances> objects, int numClasses) {
        List<RoiSamples.OfImage> images = new ArrayList<>();
        for (int n = 0; n < candidates.size(); n++) {
            SplittableRandom random = SampleRandom.of(n, head.path());
            images.add(sample(candidates.get(n), objects.get(n), random));
        }
        return RoiSamples.join(images, objects, config, numClasses);
    }

    private RoiSamples.OfImage sample(
            Candidates candidates, GtInstances objects, SplittableRandom random) {
        Sampler sampler = config.sampler();
        NDArray boxes = candidates.boxes();
        Assignment assignment =
                candidates.withoutFillers(
                        Assignment.by(config.assigner(), new Priors(boxes), objects));
        if (sampler.addGtAsProposals() && objects.size() > 0) {
            boxes = objects.boxes().concat(boxes);
            assignment = assignment.behindObjects(objects);
        }
        return new RoiSamples.OfImage(
                boxes,
                assignment.gtInds(),
                SamplingResult.by(sampler, assignment, random).positions(sampler.num()));
    }
}

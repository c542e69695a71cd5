package dev.saccade.heads.roi;

import ai.djl.ndarray.NDArray;

import dev.saccade.core.ops.Scope;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Rois;
import dev.saccade.heads.anchor.LevelMaps;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * What a {@link TwoStageHead} is told in training: first what it proposes, then what each stage
 * makes of regions drawn among the proposals. A stage of a cascade is trained on the regions that
 * the one before has refined.
 *
 * @param head what is trained
 * @param features the pyramid of a batch
 * @param images what was done to each image of the batch
 */
record TwoStageTraining(TwoStageHead head, FeaturePyramid features, List<ImageInfo> images) {

    /**
     * Returns the losses.
     *
     * @param targets the objects of each image
     */
    Losses losses(List<Instances> targets) {
        List<Instances> objects = targets.stream().map(Instances::withArea).toList();
        return Scope.losses(
                () -> {
                    List<LevelMaps> maps = head.rpn().forward(features);
                    Map<String, NDArray> terms =
                            new LinkedHashMap<>(head.rpn().losses(maps, images, objects).terms());
                    Map<String, NDArray> metrics = new LinkedHashMap<>();
                    List<Boxes> boxes =
                            head.rpn().trainProposals(maps, images).stream()
                                    .map(Instances::boxes)
                                    .toList();
                    for (RoiStage stage : head.stages()) {
                        RoiSamples samples = stage.sample(boxes, objects, head.numClasses());
                        BoxHead.Output output = head.forward(stage, features, samples.rois());
                        Losses losses = losses(stage, output, samples);
                        losses.terms()
                                .forEach((term, loss) -> terms.put(stage.prefix() + term, loss));
                        losses.metrics()
                                .forEach((name, x) -> metrics.put(stage.prefix() + name, x));
                        if (stage.index() < head.stages().size() - 1) {
                            boxes = refined(stage, output, samples);
                        }
                    }
                    return new Losses(terms, metrics);
                });
    }

    private Losses losses(RoiStage stage, BoxHead.Output output, RoiSamples samples) {
        Losses losses = stage.box().losses(output, samples);
        Map<String, NDArray> terms = new LinkedHashMap<>(losses.terms());
        stage.mask().ifPresent(mask -> terms.put("loss_mask", maskLoss(mask, samples)));
        float weight = (float) stage.config().lossWeight();
        terms.replaceAll((term, loss) -> loss.mul(Tensors.of(loss.getManager(), weight)));
        return new Losses(terms, losses.metrics());
    }

    private NDArray maskLoss(MaskHead mask, RoiSamples samples) {
        int[] positives = samples.positives();
        Rois rois = samples.rois().select(positives.length == 0 ? new int[1] : positives);
        return mask.loss(mask.forward(head.poolForMasks(features, rois)), samples);
    }

    /** Returns the regions that the next stage is trained on, of each image. */
    private List<Boxes> refined(RoiStage stage, BoxHead.Output output, RoiSamples samples) {
        Rois rois = samples.rois();
        Boxes refined = stage.box().refine(output, rois.boxes(), samples.labels());
        int[] kept =
                IntStream.range(0, rois.size())
                        .filter(i -> !samples.repeated()[i] && samples.weights()[i] > 0)
                        .toArray();
        return TwoStageHead.clipped(new Rois(refined, rois.images()).select(kept), images);
    }
}

package dev.saccade.heads;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;

import dev.saccade.core.ops.Scope;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Rois;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * What a {@link TwoStageHead} is told in training: first what it proposes, then what each stage
 * makes of regions drawn among the proposals. A stage of a cascade is trained on the regions that
 * the one before has moved.
 *
 * @param head what is trained
 * @param features the pyramid of a batch
 * @param images what was done to each image of the batch
 */
record TwoStageLosses(TwoStageHead head, FeaturePyramid features, List<ImageInfo> images) {

    /**
     * Returns the losses.
     *
     * @param targets the objects of each image
     */
    Losses of(List<Instances> targets) {
        List<Instances> objects = targets.stream().map(Instances::withArea).toList();
        RpnHead.Output proposed = head.rpn().forward(features);
        Losses first = head.rpn().losses(proposed, images, objects);
        Map<String, NDArray> terms = new LinkedHashMap<>(first.terms());
        Map<String, NDArray> figures = new LinkedHashMap<>();
        List<Boxes> boxes =
                head.rpn().proposals(proposed, images, true).stream()
                        .map(Instances::boxes)
                        .toList();
        new NDList(proposed.cls()).close();
        new NDList(proposed.reg()).close();
        for (RoiStage stage : head.stages()) {
            RoiSamples samples = stage.sample(boxes, objects, head.numClasses());
            BoxHead.Output output = head.forward(stage, features, samples.rois());
            NDList losses = stage.box().losses(output, samples);
            figures.put(stage.prefix() + "acc", losses.get(2));
            terms.put(stage.prefix() + "loss_cls", weighted(losses.get(0), stage));
            terms.put(stage.prefix() + "loss_bbox", weighted(losses.get(1), stage));
            if (stage.mask().isPresent()) {
                NDArray loss = maskLoss(stage.mask().get(), samples);
                terms.put(stage.prefix() + "loss_mask", weighted(loss, stage));
            }
            if (stage.index() < head.stages().size() - 1) {
                boxes = refined(stage, output, samples);
            }
            output.list().close();
        }
        return new Losses(terms, figures);
    }

    private static NDArray weighted(NDArray loss, RoiStage stage) {
        try (loss;
                NDArray weight = Tensors.of(loss.getManager(), (float) stage.lossWeight())) {
            return loss.mul(weight);
        }
    }

    private NDArray maskLoss(MaskHead mask, RoiSamples samples) {
        int[] positives = samples.positives();
        Rois rois = samples.rois().select(positives.length == 0 ? new int[1] : positives);
        return Scope.array(
                () -> mask.loss(mask.forward(head.poolForMasks(features, rois)), samples));
    }

    /** Returns the regions that the next stage is trained on, of each image. */
    private List<Boxes> refined(RoiStage stage, BoxHead.Output output, RoiSamples samples) {
        Rois rois = samples.rois();
        Boxes moved = stage.box().refine(output, rois.boxes(), samples.labels());
        int[] kept =
                IntStream.range(0, rois.size())
                        .filter(i -> !samples.repeated()[i] && samples.weights()[i] > 0)
                        .toArray();
        return TwoStageHead.clipped(new Rois(moved, rois.images()).select(kept), images);
    }
}

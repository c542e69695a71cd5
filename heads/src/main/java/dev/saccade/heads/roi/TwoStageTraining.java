package dev.saccade.heads.roi;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;

import dev.saccade.core.ops.Autocast;
import dev.saccade.core.ops.Tensors;
import dev.saccade.core.ops.memory.Scope;
import dev.saccade.core.ops.script.DynamicShapes;
import dev.saccade.core.ops.vision.MaskCrop;
import dev.saccade.core.ops.vision.Rois;
import dev.saccade.core.structures.FeaturePyramid;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Losses;
import dev.saccade.core.structures.Rle;
import dev.saccade.heads.anchor.LevelMaps;
import dev.saccade.heads.box.GtInstances;
import dev.saccade.heads.box.ImageFrames;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a {@link TwoStageHead} is told in training: first what it proposes, then what each stage
 * makes of regions drawn among the proposals. A stage of a cascade is trained on the regions that
 * the one before has refined; where its heads are interleaved, so is its mask head on those that
 * its box head has, drawn anew.
 *
 * @param head what is trained
 * @param features of a batch
 * @param images what was done to each image of the batch
 */
record TwoStageTraining(TwoStageHead head, RoiFeatures features, List<ImageInfo> images) {

    /**
     * Returns the losses.
     *
     * @param targets the objects of each image
     */
    Losses losses(List<Instances> targets) {
        return Scope.losses(
                () -> {
                    FeaturePyramid pyramid = features.pyramid();
                    NDManager manager = pyramid.get(0).getManager();
                    List<GtInstances> objects = GtInstances.of(manager, targets);
                    List<LevelMaps> maps = head.rpn().forward(pyramid);
                    Map<String, NDArray> terms =
                            new LinkedHashMap<>(head.rpn().losses(maps, images, objects).terms());
                    Map<String, NDArray> metrics = new LinkedHashMap<>();
                    Optional<MaskCrop> masks = masks(targets);
                    ImageFrames frames = ImageFrames.of(manager, images);
                    List<Candidates> candidates =
                            Candidates.of(head.rpn().trainProposals(maps, images));
                    for (RoiStage stage : head.stages()) {
                        RoiSamples samples =
                                stage.sample(stage.box(), candidates, objects, head.numClasses());
                        BoxHead.Output output =
                                head.forward(
                                        stage,
                                        features,
                                        samples.rois(),
                                        ofFillers(samples.weights()));
                        boolean isLast = stage.index() == head.stages().size() - 1;
                        if (!isLast || head.isInterleaved()) {
                            candidates = refined(stage, output, samples, frames);
                        }
                        RoiSamples drawn =
                                head.isInterleaved()
                                        ? stage.sample(
                                                stage.mask().orElseThrow(),
                                                candidates,
                                                objects,
                                                head.numClasses())
                                        : samples;
                        Losses losses = losses(stage, output, samples, drawn, masks);
                        losses.terms()
                                .forEach((term, loss) -> terms.put(stage.prefix() + term, loss));
                        losses.metrics()
                                .forEach((name, x) -> metrics.put(stage.prefix() + name, x));
                    }
                    return new Losses(terms, metrics);
                });
    }

    /** Brings the masks of all objects that have an area to where the features are. */
    private Optional<MaskCrop> masks(List<Instances> targets) {
        if (!head.hasMasks()) {
            return Optional.empty();
        }
        List<Rle> masks =
                targets.stream().flatMap(objects -> objects.withArea().masks().stream()).toList();
        return Optional.of(MaskCrop.beside(features.pyramid().get(0), masks));
    }

    /** Returns the weights of regions, if there may be fillers among them. */
    private static Optional<NDArray> ofFillers(NDArray weights) {
        return DynamicShapes.areFreeFor(weights) ? Optional.empty() : Optional.of(weights);
    }

    private Losses losses(
            RoiStage stage,
            BoxHead.Output output,
            RoiSamples samples,
            RoiSamples drawn,
            Optional<MaskCrop> masks) {
        Losses losses = Autocast.off(() -> stage.box().losses(output, samples));
        Map<String, NDArray> terms = new LinkedHashMap<>(losses.terms());
        masks.ifPresent(crop -> terms.put("loss_mask", maskLoss(stage, drawn, crop)));
        float weight = (float) stage.config().lossWeight();
        terms.replaceAll((term, loss) -> loss.mul(Tensors.of(loss.getManager(), weight)));
        return new Losses(terms, losses.metrics());
    }

    private NDArray maskLoss(RoiStage stage, RoiSamples samples, MaskCrop masks) {
        RoiSamples.Learned learned = samples.learned();
        Rois rois = samples.rois().select(learned.positions());
        NDArray pooled = head.poolForMasks(features, rois);
        NDArray drawn = head.masks().logits(stage.index(), pooled, ofFillers(learned.weights()));
        return Autocast.off(() -> stage.mask().orElseThrow().loss(drawn, learned, masks));
    }

    /** Returns the regions that the next stage is trained on, of each image. */
    private static List<Candidates> refined(
            RoiStage stage, BoxHead.Output output, RoiSamples samples, ImageFrames frames) {
        Rois rois = samples.rois();
        NDArray refined = stage.box().refine(output, rois.boxes(), samples.labels());
        return Candidates.of(
                frames.clip(refined, rois.images()), samples.original(), samples.counts());
    }
}

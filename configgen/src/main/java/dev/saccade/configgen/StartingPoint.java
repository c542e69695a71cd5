package dev.saccade.configgen;

import dev.saccade.core.components.TargetKind;
import dev.saccade.models.zoo.PretrainedWeights;

import java.util.Optional;

/**
 * Weights that a config starts from: the best of the downloaded weights.
 *
 * @param detector downloaded weights of a detector
 * @param backbone downloaded weights of the backbone, used without a detector
 * @param recommendation better weights to download; empty if they are downloaded
 */
record StartingPoint(
        Optional<PretrainedWeights> detector,
        Optional<PretrainedWeights> backbone,
        Optional<String> recommendation) {

    /** Below this number of images, more of a pretrained backbone is frozen. */
    private static final int FEW_IMAGES = 100;

    /** Finds weights for labels and a machine. */
    static StartingPoint of(TargetKind targets, Machine machine) {
        PretrainedWeights resnet = PretrainedWeights.named("resnet" + depth(machine));
        Optional<PretrainedWeights> backbone =
                PretrainedWeights.all().stream()
                        .filter(StartingPoint::isDownloaded)
                        .filter(weights -> weights.fits(resnet.backbone()))
                        .findFirst();
        Optional<PretrainedWeights> best =
                Optional.of(
                        switch (targets) {
                            case BOXES -> PretrainedWeights.named(boxDetector(machine));
                            case MASKS, MASKS_AND_LABEL_MAPS ->
                                    PretrainedWeights.named("maskrcnn_resnet50_fpn_v2");
                            case LABEL_MAPS, CLASSES -> backbone.orElse(resnet);
                        });
        return new StartingPoint(
                best.filter(weights -> targets.hasObjects()).filter(StartingPoint::isDownloaded),
                backbone,
                best.filter(weights -> !isDownloaded(weights)).map(PretrainedWeights::name));
    }

    private static String boxDetector(Machine machine) {
        return machine.gpu() ? "fasterrcnn_resnet50_fpn_v2" : "retinanet_resnet18_fpn_1x_coco";
    }

    private static boolean isDownloaded(PretrainedWeights weights) {
        return weights.find().isPresent();
    }

    /** Returns the depth of the ResNet of a model that does not start from a detector. */
    static int depth(Machine machine) {
        return machine.gpu() ? 50 : 18;
    }

    /** Returns the name for {@code init_from}; empty to train from scratch. */
    Optional<String> initFrom() {
        return detector.or(() -> backbone).map(PretrainedWeights::name);
    }

    /** Returns the number of frozen stages for a number of images. */
    static int frozenStages(int images) {
        return images < FEW_IMAGES ? 2 : 1;
    }
}

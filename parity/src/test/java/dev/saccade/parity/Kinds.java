package dev.saccade.parity;

import static java.util.Map.entry;

import dev.saccade.datasets.transforms.PhotometricDistortion.Variant;

import org.opentest4j.TestAbortedException;

import java.util.Map;

/** All supported kinds of cases. */
final class Kinds {

    private static final Map<String, Kind> TABLE =
            Map.ofEntries(
                    entry("anchors", new AnchorsKind()),
                    entry("assigner", new AssignerKind()),
                    entry("augment_operator", PillowKind.operator()),
                    entry("backbone", new BackboneKind()),
                    entry("bbox_coder", new BoxCoderKind()),
                    entry("checkpoint_loading", new CheckpointLoadingKind()),
                    entry("classifier", new ClassifierKind()),
                    entry("coco_eval", new CocoEvalKind()),
                    entry("color_jitter", PillowKind.colorJitter()),
                    entry("deform_conv2d", new DeformConv2dKind()),
                    entry("detector_atss", new AtssKind()),
                    entry("detector_cascade", new TwoStageKind()),
                    entry("detector_dyhead", new AtssKind()),
                    entry("detector_htc", new TwoStageKind()),
                    entry("detector_mask", new TwoStageKind()),
                    entry("detector_retina", new RetinaNetKind()),
                    entry("ema", new EmaKind()),
                    entry("first_steps", new FirstStepsKind()),
                    entry("gaussian_blur", new GaussianBlurKind()),
                    entry("image_losses", new ImageLossKind()),
                    entry("losses", new LossesKind()),
                    entry("lr_schedule", new LrScheduleKind()),
                    entry("mixup", AugmentationKind.mixUp()),
                    entry("mixup_cutmix", BatchAugmentKind.mixup()),
                    entry("module", new ElsaModuleKind()),
                    entry("mosaic", AugmentationKind.mosaic()),
                    entry("multiclass_nms", new MulticlassNmsKind()),
                    entry("neck", new NeckKind()),
                    entry("op", new ElsaOpKind()),
                    entry("optimizer", new OptimizerKind()),
                    entry("paste_masks", new PasteMasksKind()),
                    entry("photometric", new PhotometricKind(Variant.DETECTION, 0.05)),
                    entry("photometric_seg", new PhotometricKind(Variant.SEGMENTATION, 1)),
                    entry("pillow_resize", PillowKind.resizedCrop()),
                    entry("pipeline", new PipelineKind()),
                    entry("pipeline_seg", new SegPipelineKind()),
                    entry("pixel_erasing", BatchAugmentKind.erasing()),
                    entry("random_affine", AugmentationKind.randomAffine()),
                    entry("random_erasing", AugmentationKind.randomErasing()),
                    entry("random_rotate90", AugmentationKind.randomRotate90()),
                    entry("reduced_crop", new ReducedCropKind()),
                    entry("resize_center_crop", PillowKind.resizeCenterCrop()),
                    entry("resized_crop", PillowKind.resizedCrop()),
                    entry("rle", new RleKind()),
                    entry("roi_align", new RoiAlignKind()),
                    entry("roi_extractor", new RoiExtractorKind()),
                    entry("seg_inference", new SegInferenceKind()),
                    entry("seg_metrics", new SegMetricsKind()),
                    entry("segmentor", new SegmenterKind()),
                    entry("soft_nms", new SoftNmsKind()),
                    entry("sync_bn", new SyncBnKind()),
                    entry("torchvision_retinanet", new TorchvisionRetinaNetKind()),
                    entry("detector_torchvision_rcnn", new TorchvisionRcnnKind()),
                    entry("tta", new TtaKind()));

    private Kinds() {}

    /** Runs a case; skips it if its kind is not supported. */
    static void run(Case recorded) {
        Kind kind = TABLE.get(recorded.kind());
        if (kind == null) {
            throw recorded.settings().unbuilt("kind");
        }
        try {
            kind.run(recorded);
        } catch (TestAbortedException nothingBuilt) {
            throw nothingBuilt;
        } catch (Exception | AssertionError reason) {
            throw recorded.stoppedBy(reason);
        }
        recorded.check();
    }
}

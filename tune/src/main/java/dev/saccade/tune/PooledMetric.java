package dev.saccade.tune;

import com.fasterxml.jackson.core.type.TypeReference;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.bootstrap.ResampledMetric;
import dev.saccade.eval.classification.ClassifiedImage;
import dev.saccade.eval.coco.CocoDetections;
import dev.saccade.eval.coco.CocoMetrics;
import dev.saccade.eval.coco.CocoParameters;
import dev.saccade.eval.coco.CocoResults;
import dev.saccade.eval.coco.GroundTruth;
import dev.saccade.eval.coco.IouType;
import dev.saccade.eval.detection.DetectionEvaluator;
import dev.saccade.eval.segmentation.PixelCounts;
import dev.saccade.train.config.RunConfig;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The monitored metric over the held-out images of several jobs. */
final class PooledMetric {

    private static final String MEAN_IOU = "mIoU";
    private static final String TOP1 = "top1";
    private static final int THREADS = 1;

    private final RunConfig config;
    private final Dataset dataset;

    /**
     * Prepares the metric.
     *
     * @param dataset the evaluated images of all jobs
     */
    PooledMetric(RunConfig config, Dataset dataset) {
        this.config = config;
        this.dataset = dataset;
    }

    /** Rejects metrics without bootstrap intervals. */
    static void requireSupported(RunConfig config) {
        TargetKind targets = config.model().head().targets();
        String only = targets == TargetKind.LABEL_MAPS ? MEAN_IOU : TOP1;
        String expected = targets.hasObjects() ? "(mask_)?AP(50|75)?" : only;
        if (!config.monitor().matches(expected)) {
            throw SaccadeException.user(
                    "evaluation.monitor: got %s, expected %s to compare configs",
                    config.monitor(), targets.hasObjects() ? "AP, AP50, AP75, mask_AP, ..." : only);
        }
    }

    /** Returns the metric of the predictions in files with these prefixes. */
    ResampledMetric of(List<Path> predictions) {
        if (config.monitor().equals(MEAN_IOU)) {
            List<PixelCounts> counts = new ArrayList<>();
            for (Path prefix : predictions) {
                counts.addAll(
                        TuneJson.read(HeldOutEvaluation.pixels(prefix), new TypeReference<>() {}));
            }
            return PixelCounts.meanIou(counts);
        }
        if (config.monitor().equals(TOP1)) {
            List<ClassifiedImage> images = new ArrayList<>();
            for (Path prefix : predictions) {
                images.addAll(
                        TuneJson.read(HeldOutEvaluation.classes(prefix), new TypeReference<>() {}));
            }
            return ClassifiedImage.topAccuracy(images);
        }
        return cocoMetrics(predictions).resampled(config.monitor()).orElseThrow();
    }

    private CocoMetrics cocoMetrics(List<Path> predictions) {
        boolean isMask = config.monitor().startsWith(IouType.MASK.prefix());
        IouType iouType = isMask ? IouType.MASK : IouType.BOX;
        DetectionEvaluator.Config coco = HeldOutEvaluation.cocoConfig(config);
        CocoParameters parameters =
                new CocoParameters(
                        iouType, isMask ? coco.areaOf() : IouType.BOX, coco.maxDets(), true);
        return CocoMetrics.compute(
                GroundTruth.collect(dataset, iouType),
                detections(predictions, iouType),
                parameters,
                THREADS);
    }

    /** Returns the detections in files with these prefixes. */
    CocoDetections detections(List<Path> predictions, IouType iouType) {
        CocoDetections.Builder all = new CocoDetections.Builder();
        for (Path prefix : predictions) {
            Path file = HeldOutEvaluation.detections(prefix, iouType);
            add(all, CocoResults.read(file, dataset, iouType));
        }
        return all.build();
    }

    private static void add(CocoDetections.Builder all, CocoDetections part) {
        for (int d = 0; d < part.size(); d++) {
            long imageId = part.imageId(d);
            if (part.mask(d).isPresent()) {
                all.add(imageId, part.label(d), part.box(d), part.mask(d).get(), part.score(d));
            } else {
                all.add(imageId, part.label(d), part.box(d), part.score(d));
            }
        }
    }
}

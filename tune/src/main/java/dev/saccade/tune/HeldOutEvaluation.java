package dev.saccade.tune;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Iterables;

import dev.saccade.config.Configs;
import dev.saccade.core.Devices;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.ClassScores;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.CompositeEvaluator;
import dev.saccade.eval.DatasetInference;
import dev.saccade.eval.Evaluator;
import dev.saccade.eval.classification.ClassificationEvaluation;
import dev.saccade.eval.classification.ClassificationEvaluator;
import dev.saccade.eval.classification.ClassifiedImage;
import dev.saccade.eval.coco.CocoMetrics;
import dev.saccade.eval.coco.CocoResults;
import dev.saccade.eval.coco.IouType;
import dev.saccade.eval.detection.DetectionEvaluation;
import dev.saccade.eval.detection.DetectionEvaluator;
import dev.saccade.eval.segmentation.PixelCounts;
import dev.saccade.eval.segmentation.SegmentationEvaluator;
import dev.saccade.models.Classifier;
import dev.saccade.models.Detector;
import dev.saccade.models.Segmenter;
import dev.saccade.models.TrainedModel;
import dev.saccade.train.config.RunConfig;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Evaluates a checkpoint on held-out images, and writes the predictions for pooled metrics. */
record HeldOutEvaluation(RunConfig config, Dataset dataset) {

    /** Returns the file of detections with a prefix. */
    static Path detections(Path prefix, IouType iouType) {
        String suffix = iouType == IouType.BOX ? ".bbox.json" : ".segm.json";
        return prefix.resolveSibling(prefix.getFileName() + suffix);
    }

    /** Returns the file of pixel counts with a prefix. */
    static Path pixels(Path prefix) {
        return prefix.resolveSibling(prefix.getFileName() + ".pixels.json");
    }

    /** Returns the file of predicted classes with a prefix. */
    static Path classes(Path prefix) {
        return prefix.resolveSibling(prefix.getFileName() + ".classes.json");
    }

    /** Returns the metrics; calls {@code progress} after each image. */
    Map<String, Double> run(Path checkpoint, Path prefix, Runnable progress) {
        try (TrainedModel<?> model =
                TrainedModel.load(checkpoint, Devices.local().choose(config.device()))) {
            return model.match(
                    detector -> detect(detector, prefix, progress),
                    segmenter -> segment(segmenter, prefix, progress),
                    classifier -> classify(classifier, prefix, progress));
        }
    }

    private Map<String, Double> detect(Detector detector, Path prefix, Runnable progress) {
        DetectionEvaluator coco = cocoConfig(config).build(dataset, targets(), workers());
        CompositeEvaluator<Instances> others =
                others(DetectionEvaluator.Config.class, Instances.class);
        new DatasetInference(dataset, workers())
                .run(
                        detector,
                        new CompositeEvaluator<>(List.of(coco, others)),
                        done -> progress.run());
        DetectionEvaluation evaluation = coco.evaluate();
        for (CocoMetrics metrics : evaluation.metrics()) {
            IouType iouType = metrics.parameters().iouType();
            CocoResults.write(
                    detections(prefix, iouType), dataset, evaluation.detections(), iouType);
        }
        return joined(evaluation.values(), others.evaluate().values());
    }

    static DetectionEvaluator.Config cocoConfig(RunConfig config) {
        return Iterables.getFirst(
                Iterables.filter(config.evaluators(), DetectionEvaluator.Config.class),
                Configs.of(DetectionEvaluator.Config.class));
    }

    private Map<String, Double> segment(Segmenter segmenter, Path prefix, Runnable progress) {
        SegmentationEvaluator evaluator = new SegmentationEvaluator(dataset);
        PixelCounts.Counter counter = new PixelCounts.Counter(dataset);
        CompositeEvaluator<LabelMap> others =
                others(SegmentationEvaluator.Config.class, LabelMap.class);
        new DatasetInference(dataset, workers())
                .run(
                        segmenter,
                        new CompositeEvaluator<>(List.of(evaluator, counter, others)),
                        done -> progress.run());
        TuneJson.write(pixels(prefix), counter.counts());
        return joined(evaluator.evaluate().values(), others.evaluate().values());
    }

    private Map<String, Double> classify(Classifier classifier, Path prefix, Runnable progress) {
        ClassificationEvaluator evaluator = new ClassificationEvaluator(dataset);
        CompositeEvaluator<ClassScores> others =
                others(ClassificationEvaluator.Config.class, ClassScores.class);
        new DatasetInference(dataset, workers())
                .run(
                        classifier,
                        new CompositeEvaluator<>(List.of(evaluator, others)),
                        done -> progress.run());
        ClassificationEvaluation evaluation = evaluator.evaluate();
        TuneJson.write(classes(prefix), ClassifiedImage.of(dataset, evaluation));
        return joined(evaluation.values(), others.evaluate().values());
    }

    private <P> CompositeEvaluator<P> others(
            Class<? extends Evaluator.Config> standard, Class<P> prediction) {
        List<Evaluator.Config> others =
                config.evaluators().stream().filter(each -> !standard.isInstance(each)).toList();
        return CompositeEvaluator.build(others, prediction, dataset, targets(), workers());
    }

    private TargetKind targets() {
        return config.model().head().targets();
    }

    private int workers() {
        return config.data().workers();
    }

    private static Map<String, Double> joined(Map<String, Double> a, Map<String, Double> b) {
        return ImmutableMap.<String, Double>builder().putAll(a).putAll(b).buildOrThrow();
    }
}

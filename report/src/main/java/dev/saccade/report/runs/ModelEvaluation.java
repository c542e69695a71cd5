package dev.saccade.report.runs;

import com.google.common.base.Suppliers;
import com.google.common.collect.Iterables;

import dev.saccade.config.Configs;
import dev.saccade.core.components.HeadConfig;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.structures.ClassScores;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.CompositeEvaluator;
import dev.saccade.eval.DatasetInference;
import dev.saccade.eval.Evaluator;
import dev.saccade.eval.MetricReport;
import dev.saccade.eval.classification.ClassificationEvaluation;
import dev.saccade.eval.classification.ClassificationEvaluator;
import dev.saccade.eval.classification.ClassificationReport;
import dev.saccade.eval.coco.CocoMetrics;
import dev.saccade.eval.coco.CocoResults;
import dev.saccade.eval.coco.IouType;
import dev.saccade.eval.detection.DetectionEvaluation;
import dev.saccade.eval.detection.DetectionEvaluator;
import dev.saccade.eval.detection.DetectionReport;
import dev.saccade.eval.labelerrors.LabelErrors;
import dev.saccade.eval.segmentation.SegmentationEvaluation;
import dev.saccade.eval.segmentation.SegmentationEvaluator;
import dev.saccade.eval.segmentation.SegmentationReport;
import dev.saccade.models.Classifier;
import dev.saccade.models.Detector;
import dev.saccade.models.Segmenter;
import dev.saccade.models.TrainedModel;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/**
 * The evaluation of a model.
 *
 * @param imagesPerSecond throughput including reading and evaluation
 * @param taskMetrics returns the report content with at most N example images
 * @param labelErrors suspected label errors; empty without objects
 */
public record ModelEvaluation(
        MetricReport metrics,
        double imagesPerSecond,
        IntFunction<TaskMetrics> taskMetrics,
        Supplier<Optional<LabelErrors>> labelErrors) {

    /**
     * Evaluation settings.
     *
     * @param evaluators configs of additional evaluators and, optionally, of the standard one
     * @param workers number of threads that read images, and of threads that evaluate
     * @param score minimum score of the confusion matrix, and of the report if none is recommended
     * @param boxAreas whether box areas decide if a mask is small, medium or large
     * @param maxDets overrides the limits on detections per image and class
     * @param results prefix of the files to which detections are written
     */
    public record Settings(
            List<Evaluator.Config> evaluators,
            int workers,
            double score,
            boolean boxAreas,
            Optional<List<Integer>> maxDets,
            Optional<Path> results) {

        private static final double REPORT_SCORE = 0.4;

        public static Settings forReport(List<Evaluator.Config> evaluators, int workers) {
            return new Settings(
                    evaluators, workers, REPORT_SCORE, false, Optional.empty(), Optional.empty());
        }
    }

    /**
     * Evaluates on all {@linkplain ProcessGroup#current() ranks}; returns empty except in rank 0.
     */
    public static Optional<ModelEvaluation> run(
            TrainedModel<?> model,
            Dataset dataset,
            DatasetInference inference,
            Settings settings,
            IntConsumer progress) {
        TargetKind targets = model.spec().model().head().targets();
        Task task = new Task(dataset, targets, inference, settings, progress);
        return model.match(task::detect, task::segment, task::classify);
    }

    private record Task(
            Dataset dataset,
            TargetKind targets,
            DatasetInference inference,
            Settings settings,
            IntConsumer progress) {

        Optional<ModelEvaluation> detect(Detector detector) {
            DetectionEvaluator coco = coco().build(dataset, targets, settings.workers);
            CompositeEvaluator<Instances> others =
                    others(DetectionEvaluator.Config.class, Instances.class);
            double speed = infer(detector, coco, others);
            if (ProcessGroup.current().rank() > 0) {
                return Optional.empty();
            }
            DetectionEvaluation evaluation = coco.evaluate();
            settings.results.ifPresent(prefix -> writeResults(evaluation, prefix));
            Map<String, Integer> limits = detector.spec().model().head().objectLimits();
            MetricReport metrics =
                    DetectionReport.of(
                            evaluation,
                            others.evaluate().values(),
                            settings.score,
                            Optional.ofNullable(limits.get(HeadConfig.MAX_PER_IMG)),
                            List.of());
            Supplier<LabelErrors> labelErrors =
                    Suppliers.memoize(
                            () ->
                                    LabelErrors.find(
                                            evaluation.groundTruth(), evaluation.detections()));
            return Optional.of(
                    new ModelEvaluation(
                            metrics,
                            speed,
                            examples ->
                                    DetectionSections.collect(
                                            dataset,
                                            evaluation,
                                            labelErrors.get(),
                                            settings.score,
                                            examples,
                                            detector.spec().pixels()),
                            () -> Optional.of(labelErrors.get())));
        }

        private DetectionEvaluator.Config coco() {
            DetectionEvaluator.Config config =
                    Iterables.getFirst(
                            Iterables.filter(settings.evaluators, DetectionEvaluator.Config.class),
                            Configs.of(DetectionEvaluator.Config.class));
            return new DetectionEvaluator.Config(
                    settings.boxAreas ? IouType.BOX : config.areaOf(),
                    settings.maxDets.orElse(config.maxDets()));
        }

        /** Writes detections in COCO's results format, boxes and masks to a file each. */
        private void writeResults(DetectionEvaluation evaluation, Path prefix) {
            for (CocoMetrics metrics : evaluation.metrics()) {
                IouType iouType = metrics.parameters().iouType();
                String suffix = iouType == IouType.BOX ? ".bbox.json" : ".segm.json";
                Path file = prefix.resolveSibling(prefix.getFileName() + suffix);
                CocoResults.write(file, dataset, evaluation.detections(), iouType);
            }
        }

        Optional<ModelEvaluation> segment(Segmenter segmenter) {
            SegmentationEvaluator evaluator = new SegmentationEvaluator(dataset);
            CompositeEvaluator<LabelMap> others =
                    others(SegmentationEvaluator.Config.class, LabelMap.class);
            double speed = infer(segmenter, evaluator, others);
            if (ProcessGroup.current().rank() > 0) {
                return Optional.empty();
            }
            SegmentationEvaluation evaluation = evaluator.evaluate();
            return Optional.of(
                    new ModelEvaluation(
                            SegmentationReport.of(
                                    evaluation, others.evaluate().values(), List.of()),
                            speed,
                            examples ->
                                    SegmentationSections.collect(
                                            segmenter, dataset, evaluation, examples),
                            Optional::empty));
        }

        Optional<ModelEvaluation> classify(Classifier classifier) {
            ClassificationEvaluator evaluator = new ClassificationEvaluator(dataset);
            CompositeEvaluator<ClassScores> others =
                    others(ClassificationEvaluator.Config.class, ClassScores.class);
            double speed = infer(classifier, evaluator, others);
            if (ProcessGroup.current().rank() > 0) {
                return Optional.empty();
            }
            ClassificationEvaluation evaluation = evaluator.evaluate();
            return Optional.of(
                    new ModelEvaluation(
                            ClassificationReport.of(
                                    evaluation, others.evaluate().values(), List.of()),
                            speed,
                            examples ->
                                    ClassificationSections.collect(
                                            dataset,
                                            evaluation,
                                            examples,
                                            classifier.spec().pixels()),
                            Optional::empty));
        }

        private <P> CompositeEvaluator<P> others(
                Class<? extends Evaluator.Config> standard, Class<P> prediction) {
            List<Evaluator.Config> others =
                    settings.evaluators.stream()
                            .filter(each -> !standard.isInstance(each))
                            .toList();
            return CompositeEvaluator.build(others, prediction, dataset, targets, settings.workers);
        }

        private <P> double infer(
                TrainedModel<P> model, Evaluator<P> evaluator, CompositeEvaluator<P> others) {
            long start = System.nanoTime();
            inference.run(model, new CompositeEvaluator<>(List.of(evaluator, others)), progress);
            return dataset.size() * 1e9 / (System.nanoTime() - start);
        }
    }
}

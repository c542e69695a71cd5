package dev.saccade.eval.classification;

import static com.google.common.base.Preconditions.checkState;

import com.google.common.collect.ImmutableSet;
import com.google.common.io.ByteArrayDataInput;
import com.google.common.io.ByteArrayDataOutput;
import com.google.common.io.ByteStreams;
import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.Count;
import dev.saccade.core.ProgressBar;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.TaskCancelledException;
import dev.saccade.core.TaskMonitor;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.ClassScores;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.DatasetInference;
import dev.saccade.eval.Evaluator;
import dev.saccade.models.Classifier;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;

/**
 * Computes top-1 and top-5 accuracy and the calibration error of classified images. Keeps only the
 * best classes of each image.
 */
public final class ClassificationEvaluator implements Evaluator<ClassScores> {

    private static final int WORKERS = 2;

    /** Has no settings. */
    @Component("accuracy")
    public record Config() implements Evaluator.Config {

        @Override
        public Class<ClassScores> predictionType() {
            return ClassScores.class;
        }

        @Override
        public String keyMetric() {
            return "top1";
        }

        @Override
        public boolean isDefault() {
            return true;
        }

        @Override
        public ClassificationEvaluator build(Dataset dataset, TargetKind targets, int threads) {
            return new ClassificationEvaluator(dataset);
        }
    }

    private final Dataset dataset;
    private final AtomicReferenceArray<TopClasses> predictions;

    /** Creates an evaluator for a data set with a class per image. */
    public ClassificationEvaluator(Dataset dataset) {
        this.dataset = dataset;
        this.predictions = new AtomicReferenceArray<>(dataset.size());
    }

    /**
     * Evaluates a classifier.
     *
     * @throws SaccadeException of kind user, if the classes differ or the data set has errors
     */
    public static ClassificationEvaluation evaluate(Classifier classifier, Dataset dataset) {
        return evaluate(classifier, dataset, ProgressBar.NONE);
    }

    /**
     * Evaluates like {@link #evaluate(Classifier, Dataset)}, with a {@link TaskMonitor} or a
     * progress bar.
     *
     * @throws TaskCancelledException if the monitor is cancelled
     */
    public static ClassificationEvaluation evaluate(
            Classifier classifier, Dataset dataset, ProgressBar.Factory progress) {
        DatasetInference inference = new DatasetInference(dataset, WORKERS);
        inference.requireNoErrors(classifier);
        ClassificationEvaluator evaluator = new ClassificationEvaluator(dataset);
        try (ProgressBar bar = progress.open("evaluate", dataset.size(), " images")) {
            inference.run(classifier, evaluator, bar::to);
        }
        return evaluator.evaluate();
    }

    @Override
    public Set<String> metrics() {
        return dataset.classes().size() > TopClasses.COUNT
                ? ImmutableSet.of("top1", "top5", "ece")
                : ImmutableSet.of("top1", "ece");
    }

    @Override
    public void reset() {
        IntStream.range(0, predictions.length()).forEach(i -> predictions.set(i, null));
    }

    @Override
    public void process(int index, ClassScores predicted) {
        predictions.set(index, TopClasses.of(predicted));
    }

    @Override
    public byte[] state() {
        ByteArrayDataOutput out = ByteStreams.newDataOutput();
        int[] own = processed();
        out.writeInt(own.length);
        for (int index : own) {
            out.writeInt(index);
            predictions.get(index).labels().forEach(out::writeInt);
            out.writeDouble(predictions.get(index).confidence());
        }
        return out.toByteArray();
    }

    private int[] processed() {
        return IntStream.range(0, predictions.length())
                .filter(i -> predictions.get(i) != null)
                .toArray();
    }

    @Override
    public void mergeState(byte[] state) {
        ByteArrayDataInput in = ByteStreams.newDataInput(state);
        int count = in.readInt();
        for (int i = 0; i < count; i++) {
            int index = in.readInt();
            int[] labels = new int[Math.min(TopClasses.COUNT, dataset.classes().size())];
            Arrays.setAll(labels, place -> in.readInt());
            predictions.set(
                    index, new TopClasses(ImmutableIntArray.copyOf(labels), in.readDouble()));
        }
    }

    @Override
    public ClassificationEvaluation evaluate() {
        int count = processed().length;
        checkState(
                count == dataset.size(),
                "got predictions for %s of %s",
                count,
                Count.of(dataset.size(), "image"));
        List<TopClasses> all = IntStream.range(0, count).mapToObj(predictions::get).toList();
        return new ClassificationEvaluation(
                dataset.classes(),
                ImmutableIntArray.copyOf(
                        IntStream.range(0, count).map(i -> dataset.label(i).orElseThrow())),
                all);
    }
}

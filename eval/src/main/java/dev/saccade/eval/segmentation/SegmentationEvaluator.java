package dev.saccade.eval.segmentation;

import static com.google.common.base.Preconditions.checkState;

import com.google.common.collect.ImmutableSet;
import com.google.common.io.ByteArrayDataInput;
import com.google.common.io.ByteArrayDataOutput;
import com.google.common.io.ByteStreams;
import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.Count;
import dev.saccade.core.ProgressBar;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.TaskCancelledException;
import dev.saccade.core.TaskMonitor;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.DatasetInference;
import dev.saccade.eval.Evaluator;
import dev.saccade.models.Segmenter;

import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/** Computes mmsegmentation's metrics and Boundary IoU of label maps. */
public final class SegmentationEvaluator implements Evaluator<LabelMap> {

    private static final int WORKERS = 2;

    /** Has no settings. */
    @Component("mean_iou")
    public record Config() implements Evaluator.Config {

        @Override
        public Class<LabelMap> predictionType() {
            return LabelMap.class;
        }

        @Override
        public String keyMetric() {
            return "mIoU";
        }

        @Override
        public boolean isDefault() {
            return true;
        }

        @Override
        public SegmentationEvaluator build(Dataset dataset, TargetKind targets, int threads) {
            return new SegmentationEvaluator(dataset);
        }
    }

    private final Dataset dataset;
    private final AtomicInteger processed = new AtomicInteger();
    private PixelConfusionMatrix pixels;
    private BoundaryIou boundaries;
    private final double[] ious;

    /** Creates an evaluator for a data set with label maps. */
    public SegmentationEvaluator(Dataset dataset) {
        this.dataset = dataset;
        this.ious = new double[dataset.size()];
        reset();
    }

    /**
     * Evaluates a segmenter.
     *
     * @throws SaccadeException of kind user, if the classes differ or the data set has errors
     */
    public static SegmentationEvaluation evaluate(Segmenter segmenter, Dataset dataset) {
        return evaluate(segmenter, dataset, ProgressBar.NONE);
    }

    /**
     * Evaluates like {@link #evaluate(Segmenter, Dataset)}, with a {@link TaskMonitor} or a
     * progress bar.
     *
     * @throws TaskCancelledException if the monitor is cancelled
     */
    public static SegmentationEvaluation evaluate(
            Segmenter segmenter, Dataset dataset, ProgressBar.Factory progress) {
        DatasetInference inference = new DatasetInference(dataset, WORKERS);
        inference.requireNoErrors(segmenter);
        SegmentationEvaluator evaluator = new SegmentationEvaluator(dataset);
        try (ProgressBar bar = progress.open("evaluate", dataset.size(), " images")) {
            inference.run(segmenter, evaluator, bar::to);
        }
        return evaluator.evaluate();
    }

    @Override
    public Set<String> metrics() {
        return ImmutableSet.of("mIoU", "mAcc", "aAcc", "mDice", "boundary_mIoU");
    }

    @Override
    public void reset() {
        processed.set(0);
        Arrays.fill(ious, Double.NaN);
        pixels = new PixelConfusionMatrix(dataset.classes().size());
        boundaries = new BoundaryIou(dataset.classes().size());
    }

    /**
     * {@inheritDoc}
     *
     * @throws SaccadeException of kind user that names an image with an invalid label map
     */
    @Override
    public void process(int index, LabelMap predicted) {
        LabelMap truth = truth(index, predicted.size());
        PixelConfusionMatrix own = new PixelConfusionMatrix(dataset.classes().size());
        own.add(truth, predicted);
        ious[index] = own.meanIou();
        pixels.add(own);
        boundaries.add(truth, predicted);
        processed.incrementAndGet();
    }

    private LabelMap truth(int index, Size image) {
        LabelMap labels = dataset.labels(index);
        if (!labels.size().equals(image)) {
            throw SaccadeException.user(
                    "%s: the image is %s (height x width), but its label map is %s",
                    dataset.image(index).file(), image, labels.size());
        }
        try {
            labels.histogram(dataset.classes().size());
            return labels;
        } catch (IllegalArgumentException e) {
            throw SaccadeException.user("%s: %s", dataset.image(index).file(), e.getMessage());
        }
    }

    @Override
    public byte[] state() {
        ByteArrayDataOutput out = ByteStreams.newDataOutput();
        out.writeInt(processed.get());
        pixels.write(out);
        boundaries.write(out);
        for (double iou : ious) {
            out.writeDouble(iou);
        }
        return out.toByteArray();
    }

    @Override
    public void mergeState(byte[] state) {
        ByteArrayDataInput in = ByteStreams.newDataInput(state);
        processed.addAndGet(in.readInt());
        pixels.add(in);
        boundaries.add(in);
        for (int i = 0; i < ious.length; i++) {
            double iou = in.readDouble();
            ious[i] = Double.isNaN(iou) ? ious[i] : iou;
        }
    }

    @Override
    public SegmentationEvaluation evaluate() {
        checkState(
                processed.get() == dataset.size(),
                "got predictions for %s of %s",
                processed,
                Count.of(dataset.size(), "image"));
        return new SegmentationEvaluation(
                SegmentationMetrics.compute(dataset.classes(), pixels, boundaries),
                pixels,
                ImmutableDoubleArray.copyOf(ious));
    }
}

package dev.saccade.eval.segmentation;

import static com.google.common.base.Preconditions.checkState;

import com.google.common.collect.ImmutableSet;
import com.google.common.io.ByteArrayDataInput;
import com.google.common.io.ByteArrayDataOutput;
import com.google.common.io.ByteStreams;
import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.Part;
import dev.saccade.core.parts.TargetKind;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Dataset;
import dev.saccade.eval.DatasetInference;
import dev.saccade.eval.Evaluator;
import dev.saccade.models.Segmenter;

import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/** Measures label maps as mmsegmentation does, and by Boundary IoU. */
public final class SegmentationEvaluator implements Evaluator<LabelMap> {

    private static final int WORKERS = 2;

    /** Nothing can be set. */
    @Part("mean_iou")
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
        public boolean isStandard() {
            return true;
        }

        @Override
        public SegmentationEvaluator build(Dataset dataset, TargetKind targets, int threads) {
            return new SegmentationEvaluator(dataset);
        }
    }

    private final Dataset dataset;
    private final AtomicInteger processed = new AtomicInteger();
    private PixelConfusion pixels;
    private BoundaryOverlap boundaries;
    private final double[] ious;

    /** Measures on a data set whose pixels are labeled. */
    public SegmentationEvaluator(Dataset dataset) {
        this.dataset = dataset;
        this.ious = new double[dataset.size()];
        reset();
    }

    /**
     * Measures a segmenter on a data set, which is held to the check that training begins with.
     *
     * @throws SaccadeException of kind user, if the segmenter was trained for other classes, or if
     *     the data set has an error, such as labels that are no class
     */
    public static SegmentationEvaluation evaluate(Segmenter segmenter, Dataset dataset) {
        DatasetInference inference = new DatasetInference(dataset, WORKERS);
        inference.requireNoErrors(segmenter);
        SegmentationEvaluator evaluator = new SegmentationEvaluator(dataset);
        inference.run(segmenter, evaluator, done -> {});
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
        pixels = new PixelConfusion(dataset.classes().size());
        boundaries = new BoundaryOverlap(dataset.classes().size());
    }

    /**
     * {@inheritDoc}
     *
     * @throws SaccadeException of kind user that names the photograph, if its labels are of another
     *     size than the prediction, or no classes
     */
    @Override
    public void process(int index, LabelMap predicted) {
        LabelMap truth = truth(index, predicted.size());
        PixelConfusion own = new PixelConfusion(dataset.classes().size());
        own.add(truth, predicted);
        ious[index] = own.meanIou();
        pixels.add(own);
        boundaries.add(truth, predicted);
        processed.incrementAndGet();
    }

    private LabelMap truth(int index, Size photo) {
        LabelMap labels = dataset.labels(index);
        if (!labels.size().equals(photo)) {
            throw SaccadeException.user(
                    "%s: is %s (height x width), but its labels are %s",
                    dataset.image(index).file(), photo, labels.size());
        }
        try {
            labels.histogram(dataset.classes().size());
            return labels;
        } catch (IllegalArgumentException e) {
            throw SaccadeException.user("%s: %s", dataset.image(index).file(), e.getMessage());
        }
    }

    @Override
    public byte[] collected() {
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
    public void merge(byte[] collected) {
        ByteArrayDataInput in = ByteStreams.newDataInput(collected);
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
                "predictions for %s of %s",
                processed,
                Count.of(dataset.size(), "photograph"));
        return new SegmentationEvaluation(
                SegmentationMetrics.compute(dataset.classes(), pixels, boundaries),
                pixels,
                ImmutableDoubleArray.copyOf(ious));
    }
}

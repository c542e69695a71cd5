package dev.saccade.eval;

import com.google.common.collect.ImmutableSet;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Workers;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.loader.DataLoader;
import dev.saccade.datasets.loader.PhotoViews;
import dev.saccade.models.Segmenter;

import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntConsumer;

/** Runs a segmenter over the photographs of a data set and measures it. */
public final class SegmentationEvaluator {

    private static final Set<String> METRICS =
            ImmutableSet.of("mIoU", "mAcc", "aAcc", "mDice", "boundary_mIoU");

    private final Dataset dataset;

    /** Measures on a data set whose pixels are labelled. */
    public SegmentationEvaluator(Dataset dataset) {
        this.dataset = dataset;
    }

    /** Returns the names of the metrics. */
    public Set<String> metrics() {
        return METRICS;
    }

    /** Returns the number of photographs. */
    public int size() {
        return dataset.size();
    }

    /**
     * Runs a segmenter over the data set, in the views it was made for.
     *
     * @param workers threads that read photographs, and as many that measure
     * @param progress told the number of photographs that are done, after each
     * @throws SaccadeException of kind user, if it was trained for other classes
     */
    public SegmentationEvaluation evaluate(Segmenter segmenter, int workers, IntConsumer progress) {
        MeasuredData.requireClasses(segmenter, dataset);
        return evaluate(segmenter.spec().viewTransforms(), segmenter::predict, workers, progress);
    }

    /**
     * Runs a segmenter over the data set, reading photographs ahead and measuring on threads.
     *
     * @param views what is done to a photograph in each view that the segmenter is shown
     * @param segmenter gives the class of every pixel of the photograph of some views, at its size
     * @param workers threads that read photographs, each holding all views of one, and as many that
     *     measure
     * @param progress told the number of photographs that are done, after each
     */
    public SegmentationEvaluation evaluate(
            List<List<Transform>> views,
            Function<PhotoViews, LabelMap> segmenter,
            int workers,
            IntConsumer progress) {
        PixelConfusion pixels = new PixelConfusion(dataset.classes().size());
        BoundaryOverlap boundaries = new BoundaryOverlap(dataset.classes().size());
        try (DataLoader<PhotoViews> loader = DataLoader.testing(dataset, views, workers);
                DataLoader<PhotoViews>.Epoch photos = loader.epoch(0);
                Workers measuring = new Workers("saccade-eval", Math.max(1, workers))) {
            for (int i = 0; i < dataset.size(); i++) {
                int index = i;
                LabelMap predicted = predict(segmenter, photos);
                measuring.start(
                        () -> {
                            LabelMap truth = truth(index, predicted.size());
                            pixels.add(truth, predicted);
                            boundaries.add(truth, predicted);
                        });
                progress.accept(i + 1);
            }
            measuring.finish();
        }
        return new SegmentationEvaluation(
                SegmentationMetrics.of(dataset.classes(), pixels, boundaries), pixels);
    }

    private LabelMap truth(int index, Size photo) {
        LabelMap labels = dataset.labels(index);
        if (!labels.size().equals(photo)) {
            throw SaccadeException.user(
                    "%s: is %s (height x width), but its labels are %s",
                    dataset.photo(index).file(), photo, labels.size());
        }
        try {
            labels.histogram(dataset.classes().size());
            return labels;
        } catch (IllegalArgumentException e) {
            throw SaccadeException.user("%s: %s", dataset.photo(index).file(), e.getMessage());
        }
    }

    private static LabelMap predict(
            Function<PhotoViews, LabelMap> segmenter, DataLoader<PhotoViews>.Epoch photos) {
        try (PhotoViews photo = photos.next()) {
            return segmenter.apply(photo);
        }
    }
}

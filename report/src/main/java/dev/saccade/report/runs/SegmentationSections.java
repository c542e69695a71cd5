package dev.saccade.report.runs;

import com.google.common.collect.ImmutableMap;
import com.google.common.io.ByteSource;
import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.Text;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.image.ImageReader;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.eval.segmentation.ClassOverlap;
import dev.saccade.eval.segmentation.PixelConfusion;
import dev.saccade.eval.segmentation.SegmentationEvaluation;
import dev.saccade.models.Segmenter;
import dev.saccade.models.draw.Jpeg;
import dev.saccade.models.draw.LabelCanvas;
import dev.saccade.report.Examples;
import dev.saccade.report.HeatMap;
import dev.saccade.report.ReportData.Fact;
import dev.saccade.report.Section;
import dev.saccade.report.SegmentationExample;
import dev.saccade.report.ShareTable;

import org.opencv.core.Mat;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** What a report says of a segmenter. */
public final class SegmentationSections {

    private static final int LONGEST_EDGE = 640;

    private static final Map<String, String> MEANINGS =
            ImmutableMap.of(
                    "mIoU", "IoU, mean over classes",
                    "mAcc", "pixel accuracy, mean over classes",
                    "aAcc", "pixel accuracy over all classes",
                    "mDice", "Dice coefficient, mean over classes",
                    "boundary_mIoU", "IoU along region boundaries, mean over classes");

    private final Segmenter segmenter;
    private final Dataset dataset;
    private final List<String> names;

    private SegmentationSections(Segmenter segmenter, Dataset dataset) {
        this.segmenter = segmenter;
        this.dataset = dataset;
        this.names = RelativeNames.of(dataset);
    }

    /**
     * Returns the figures of an evaluation.
     *
     * @param segmenter what was measured; it is run again on the photographs that are shown
     * @param dataset the held-back photographs
     * @param examples how many of them are shown at most
     */
    public static TaskMetrics collect(
            Segmenter segmenter, Dataset dataset, SegmentationEvaluation evaluation, int examples) {
        return new TaskMetrics(
                headline(evaluation.values()),
                new SegmentationSections(segmenter, dataset).examples(evaluation.ious(), examples),
                List.of(
                        new Section("Segmentation metrics", "", summary(evaluation.values())),
                        confusions(evaluation),
                        new Section(
                                "Per-class metrics",
                                "",
                                classes(evaluation.metrics().perClass()))));
    }

    private static List<Fact> headline(Map<String, Double> values) {
        return Stream.of("mIoU", "aAcc", "boundary_mIoU")
                .map(
                        name ->
                                Fact.ofShare(
                                        name.replace('_', ' '),
                                        values.getOrDefault(name, -1.0),
                                        MEANINGS.get(name)))
                .toList();
    }

    private static ShareTable summary(Map<String, Double> values) {
        return new ShareTable(
                List.of("Metric", "", "Value"),
                values.entrySet().stream()
                        .map(
                                metric ->
                                        new ShareTable.Row(
                                                metric.getKey().replace('_', ' '),
                                                MEANINGS.get(metric.getKey()),
                                                List.of(metric.getValue())))
                        .toList());
    }

    private static Section confusions(SegmentationEvaluation evaluation) {
        List<ShareTable.Row> rows =
                evaluation.confusions().stream()
                        .limit(TaskMetrics.CONFUSIONS)
                        .map(
                                confusion ->
                                        new ShareTable.Row(
                                                confusion.truth(),
                                                Text.format(
                                                        "%s (%,d pixels)",
                                                        confusion.predicted(), confusion.pixels()),
                                                List.of(confusion.share())))
                        .toList();
        HeatMap map =
                new HeatMap(
                        "Percentage of the pixels of each ground-truth class",
                        evaluation.classes(),
                        evaluation.confusion().rows(),
                        true);
        return new Section(
                "Confusion matrix",
                "The most frequent confusions, with their fraction of the pixels of the class.",
                new ShareTable(List.of("Ground truth", "Predicted as", "Fraction"), rows),
                map);
    }

    private static ShareTable classes(List<ClassOverlap> classes) {
        return new ShareTable(
                List.of("Class", "Pixels", "IoU", "Accuracy", "Dice", "Boundary IoU"),
                classes.stream()
                        .map(
                                c ->
                                        new ShareTable.Row(
                                                c.name(),
                                                Text.format("%,d", c.pixels()),
                                                List.of(
                                                        c.iou(),
                                                        c.accuracy(),
                                                        c.dice(),
                                                        c.boundaryIou())))
                        .toList(),
                true);
    }

    /**
     * Returns some photographs, the worst first.
     *
     * @param ious the mean IoU of each of the data set; NaN where nothing is labeled
     */
    private Examples examples(ImmutableDoubleArray ious, int count) {
        Comparator<Integer> worstFirst = Comparator.comparingDouble(ious::get);
        return Examples.of(
                Examples.select(dataset.size(), count, worstFirst).stream()
                        .map(index -> example(index, ious.get(index)))
                        .toList(),
                dataset.classes(),
                0,
                dataset.size());
    }

    private SegmentationExample example(int index, double iou) {
        ImageFile photo = dataset.image(index);
        LabelMap truth = dataset.labels(index);
        LabelMap predicted = segmenter.predict(ImageSource.of(photo.file()));
        Mat image = ImageReader.read(photo.file());
        try {
            Size shown = ImageScaling.size(photo.size(), LONGEST_EDGE);
            ImageScaling.shrink(image, LONGEST_EDGE);
            Set<Integer> labels = new TreeSet<>(truth.masks().keySet());
            labels.addAll(predicted.masks().keySet());
            return new SegmentationExample(
                    names.get(index),
                    tinted(image, truth.resize(shown)),
                    tinted(image, predicted.resize(shown)),
                    labels,
                    iou,
                    tally(truth, predicted, iou));
        } finally {
            image.release();
        }
    }

    private ByteSource tinted(Mat image, LabelMap labels) {
        Mat picture = LabelCanvas.draw(image, labels, dataset.classes(), false);
        try {
            return ByteSource.wrap(Jpeg.encode(picture));
        } finally {
            picture.release();
        }
    }

    private String tally(LabelMap truth, LabelMap predicted, double iou) {
        PixelConfusion pixels = new PixelConfusion(dataset.classes().size());
        pixels.add(truth, predicted);
        long right = 0;
        long all = 0;
        for (int label = 0; label < pixels.classes(); label++) {
            right += pixels.count(label, label);
            all += pixels.truth(label);
        }
        return all == 0
                ? "no labeled pixels"
                : Text.format("%.1f%% of pixels correct, mIoU %.3f", 100.0 * right / all, iou);
    }
}

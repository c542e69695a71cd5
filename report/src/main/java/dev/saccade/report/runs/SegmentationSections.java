package dev.saccade.report.runs;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Iterables;
import com.google.common.collect.Sets;
import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.Text;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.eval.segmentation.PixelConfusionMatrix;
import dev.saccade.eval.segmentation.SegmentationClassMetrics;
import dev.saccade.eval.segmentation.SegmentationEvaluation;
import dev.saccade.models.Segmenter;
import dev.saccade.models.draw.LabelCanvas;
import dev.saccade.report.Examples;
import dev.saccade.report.FactList.Fact;
import dev.saccade.report.FractionTable;
import dev.saccade.report.HeatMap;
import dev.saccade.report.Section;
import dev.saccade.report.SegmentationExample;

import org.opencv.core.Mat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Report sections of a segmenter. */
public final class SegmentationSections {

    private static final int MAX_EDGE = 640;
    private static final int CONFUSIONS = 10;

    private static final Map<String, String> MEANINGS =
            ImmutableMap.of(
                    "mIoU", "IoU, mean over classes",
                    "mAcc", "pixel accuracy, mean over classes",
                    "aAcc", "pixel accuracy over all classes",
                    "mDice", "Dice coefficient, mean over classes",
                    "boundary_mIoU", "IoU along region boundaries, mean over classes");

    private final Segmenter segmenter;
    private final Dataset dataset;

    private SegmentationSections(Segmenter segmenter, Dataset dataset) {
        this.segmenter = segmenter;
        this.dataset = dataset;
    }

    /** Returns headline, examples and sections; predicts the example images again. */
    public static TaskMetrics collect(
            Segmenter segmenter, Dataset dataset, SegmentationEvaluation evaluation, int examples) {
        Map<String, Double> values = evaluation.values();
        List<Fact> headline = new ArrayList<>();
        for (String name : List.of("mIoU", "aAcc", "boundary_mIoU")) {
            double value = values.getOrDefault(name, -1.0);
            headline.add(Fact.ofFraction(name.replace('_', ' '), value, MEANINGS.get(name)));
        }
        List<FractionTable.Row> rows = new ArrayList<>();
        values.forEach(
                (name, value) -> {
                    String shown = name.replace('_', ' ');
                    rows.add(new FractionTable.Row(shown, MEANINGS.get(name), List.of(value)));
                });
        FractionTable summary = new FractionTable(List.of("Metric", "", "Value"), rows);
        return new TaskMetrics(
                headline,
                new SegmentationSections(segmenter, dataset).examples(evaluation.ious(), examples),
                List.of(
                        new Section("Segmentation metrics", "", summary),
                        confusions(evaluation),
                        new Section(
                                "Per-class metrics",
                                "",
                                classes(evaluation.metrics().perClass()))));
    }

    private static Section confusions(SegmentationEvaluation evaluation) {
        List<FractionTable.Row> rows = new ArrayList<>();
        for (var confusion : Iterables.limit(evaluation.confusions(), CONFUSIONS)) {
            String predicted =
                    Text.format("%s (%,d pixels)", confusion.predicted(), confusion.pixels());
            List<Double> fraction = List.of(confusion.fraction());
            rows.add(new FractionTable.Row(confusion.truth(), predicted, fraction));
        }
        return new Section(
                "Confusion matrix",
                "The most frequent confusions, as a fraction of the pixels of the"
                        + " ground-truth class.",
                new FractionTable(List.of("Ground truth", "Predicted as", "Fraction"), rows),
                new HeatMap(
                        "Confusion matrix, percent of ground-truth pixels",
                        evaluation.classes(),
                        evaluation.confusion().rows(),
                        true));
    }

    private static FractionTable classes(List<SegmentationClassMetrics> classes) {
        List<FractionTable.Row> rows = new ArrayList<>();
        for (SegmentationClassMetrics c : classes) {
            List<Double> values = List.of(c.iou(), c.accuracy(), c.dice(), c.boundaryIou());
            rows.add(new FractionTable.Row(c.name(), Text.format("%,d", c.pixels()), values));
        }
        return new FractionTable(
                List.of("Class", "Pixels", "IoU", "Accuracy", "Dice", "Boundary IoU"), rows, true);
    }

    /** Returns examples, worst mean IoU first. IoU is NaN without labeled pixels. */
    private Examples examples(ImmutableDoubleArray ious, int count) {
        List<String> names = RelativeNames.of(dataset);
        List<SegmentationExample> examples = new ArrayList<>();
        Comparator<Integer> worstFirst = Comparator.comparingDouble(ious::get);
        for (int i : Examples.select(dataset.size(), count, worstFirst)) {
            examples.add(example(names.get(i), i, ious.get(i)));
        }
        return Examples.of(examples, dataset.classes(), 0, dataset.size());
    }

    private SegmentationExample example(String name, int index, double iou) {
        ImageFile file = dataset.image(index);
        LabelMap truth = dataset.labels(index);
        LabelMap predicted = segmenter.predict(ImageSource.of(file.file()));
        Mat image = ImageSource.of(file.file()).display(segmenter.spec().pixels()).read();
        try {
            Size shown = ImageScaling.size(file.size(), MAX_EDGE);
            ImageScaling.shrink(image, MAX_EDGE);
            return new SegmentationExample(
                    name,
                    tinted(image, truth.resize(shown)),
                    tinted(image, predicted.resize(shown)),
                    Sets.union(truth.masks().keySet(), predicted.masks().keySet()).immutableCopy(),
                    iou,
                    tally(truth, predicted, iou));
        } finally {
            image.release();
        }
    }

    private String tinted(Mat image, LabelMap labels) {
        Mat picture = LabelCanvas.draw(image, labels, dataset.classes(), false);
        try {
            return ImageScaling.base64(picture);
        } finally {
            picture.release();
        }
    }

    private String tally(LabelMap truth, LabelMap predicted, double iou) {
        PixelConfusionMatrix pixels = new PixelConfusionMatrix(dataset.classes().size());
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

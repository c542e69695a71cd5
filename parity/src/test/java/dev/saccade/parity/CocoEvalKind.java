package dev.saccade.parity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.eval.coco.AreaRange;
import dev.saccade.eval.coco.ClassMetrics;
import dev.saccade.eval.coco.CocoDetections;
import dev.saccade.eval.coco.CocoMetrics;
import dev.saccade.eval.coco.CocoParameters;
import dev.saccade.eval.coco.CocoResults;
import dev.saccade.eval.coco.GroundTruth;
import dev.saccade.eval.coco.IouType;
import dev.saccade.eval.coco.MetricArray;
import dev.saccade.eval.coco.SummaryRow;

import java.util.Arrays;
import java.util.List;

/** COCO's average precision of boxes and masks, with the full arrays. */
final class CocoEvalKind implements Kind {

    private static final Tolerance STATED = new Tolerance(1e-9, 0, 1e-12);
    private static final List<Integer> PROPOSAL_LIMITS = List.of(100, 300, 1000);
    private static final int RECALL_STEP = 10;

    @Override
    public void run(Case recorded) {
        Settings settings = recorded.settings();
        settings.describes("annotations", "stats");
        Dataset dataset =
                CocoDataset.open(
                        recorded.file("instances.json"), recorded.file("images"), List.of());
        assertEquals(settings.integer("images"), dataset.size());
        int[] order = classOrder(settings.integers("categories"), dataset);
        evaluate(recorded, dataset, order, IouType.BOX, "bbox");
        evaluate(recorded, dataset, order, IouType.MASK, "segm");
    }

    /** Returns the class index by recorded class; recorded classes follow the category ids. */
    private static int[] classOrder(List<Integer> categories, Dataset dataset) {
        int[] order = new int[categories.size()];
        for (int label = 0; label < dataset.classes().size(); label++) {
            order[categories.indexOf((int) dataset.categoryId(label))] = label;
        }
        return order;
    }

    private static void evaluate(
            Case recorded, Dataset dataset, int[] order, IouType iouType, String type) {
        GroundTruth groundTruth = GroundTruth.collect(dataset, iouType);
        CocoDetections detections =
                CocoResults.read(recorded.file(type + "_results.json"), dataset, iouType);
        assertEquals(recorded.settings().integer("detections"), detections.size());

        CocoMetrics official =
                CocoMetrics.compute(groundTruth, detections, CocoParameters.official(iouType), 2);
        compareArrays(recorded, type, official, order);
        recorded.compare(type + "_ap_per_category", averagePrecisions(official, order), STATED);

        CocoParameters agnostic =
                new CocoParameters(
                        iouType, iouType, CocoParameters.official(iouType).maxDetections(), false);
        compareArrays(
                recorded,
                type + "_agnostic",
                CocoMetrics.compute(groundTruth, detections, agnostic, 2),
                new int[1]);

        CocoParameters proposals = new CocoParameters(iouType, iouType, PROPOSAL_LIMITS, true);
        compareProposals(
                recorded,
                type + "_prop",
                CocoMetrics.compute(groundTruth, detections, proposals, 2),
                order);
    }

    private static void compareArrays(
            Case recorded, String name, CocoMetrics metrics, int[] order) {
        double[] stats = metrics.summary().stream().mapToDouble(SummaryRow::value).toArray();
        recorded.compare(name + "_stats", NumpyArray.of(stats), STATED);
        recorded.compare(name + "_recall", recall(metrics.recall(), order), STATED);
        recorded.compare(name + "_precision", precision(metrics.precision(), order), STATED);
        recorded.compare(name + "_precision_sum", sums(metrics.precision()), STATED);
        recorded.compare(
                name + "_scores_sum", NumpyArray.of(sums(metrics.scores()).values()[0]), STATED);
    }

    /** Returns the array [T, K, A, M] in the recorded class order. */
    private static NumpyArray recall(MetricArray recall, int[] order) {
        int[] shape = recall.shape().toArray();
        double[] values = new double[shape[0] * shape[1] * shape[2] * shape[3]];
        int next = 0;
        for (int t = 0; t < shape[0]; t++) {
            for (int label : order) {
                for (int a = 0; a < shape[2]; a++) {
                    for (int m = 0; m < shape[3]; m++) {
                        values[next++] = recall.get(t, label, a, m);
                    }
                }
            }
        }
        return NumpyArray.of(values).reshape(Arrays.stream(shape).asLongStream().toArray());
    }

    /** Returns every tenth recall threshold of the array [T, R, K, A, M]. */
    private static NumpyArray precision(MetricArray precision, int[] order) {
        int[] shape = precision.shape().toArray();
        shape[1] = (shape[1] - 1) / RECALL_STEP + 1;
        double[] values = new double[Arrays.stream(shape).reduce(1, (a, b) -> a * b)];
        int next = 0;
        for (int t = 0; t < shape[0]; t++) {
            for (int r = 0; r < shape[1]; r++) {
                for (int label : order) {
                    for (int a = 0; a < shape[3]; a++) {
                        for (int m = 0; m < shape[4]; m++) {
                            values[next++] = precision.get(t, r * RECALL_STEP, label, a, m);
                        }
                    }
                }
            }
        }
        return NumpyArray.of(values).reshape(Arrays.stream(shape).asLongStream().toArray());
    }

    /** Returns the sum and number of defined values, and the number of undefined ones. */
    private static NumpyArray sums(MetricArray array) {
        double[] defined = Arrays.stream(array.toArray()).filter(value -> value > -1).toArray();
        return NumpyArray.of(
                Arrays.stream(defined).sum(),
                defined.length,
                array.toArray().length - defined.length);
    }

    private static NumpyArray averagePrecisions(CocoMetrics metrics, int[] order) {
        List<ClassMetrics> classes = metrics.perClass();
        return NumpyArray.of(
                Arrays.stream(order).mapToDouble(label -> classes.get(label).ap()).toArray());
    }

    private static void compareProposals(
            Case recorded, String name, CocoMetrics metrics, int[] order) {
        recorded.compare(name + "_recall", recall(metrics.recall(), order), STATED);
        double[] means = new double[PROPOSAL_LIMITS.size() * AreaRange.values().length];
        for (int i = 0; i < means.length; i++) {
            int m = i / AreaRange.values().length;
            means[i] = mean(metrics.precision(), i % AreaRange.values().length, m);
        }
        recorded.compare(
                name + "_precision_mean_per_area",
                NumpyArray.of(means).reshape(PROPOSAL_LIMITS.size(), AreaRange.values().length),
                STATED);
    }

    /** Returns the mean of the defined precisions for an area range and limit. */
    private static double mean(MetricArray precision, int area, int limit) {
        double[] values = precision.toArray();
        int limits = PROPOSAL_LIMITS.size();
        int areas = AreaRange.values().length;
        double sum = 0;
        int defined = 0;
        for (int i = 0; i < values.length; i++) {
            boolean wanted = i % limits == limit && i / limits % areas == area;
            if (wanted && values[i] > -1) {
                sum += values[i];
                defined++;
            }
        }
        return defined == 0 ? -1 : sum / defined;
    }
}

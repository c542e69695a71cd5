package dev.saccade.eval.coco;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.eval.DenseScene;
import dev.saccade.eval.MemoryDataset;
import dev.saccade.eval.RandomScene;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

class CocoMetricsTest {

    private static final CocoParameters OFFICIAL = CocoParameters.official(IouType.BOX);

    private static CocoMetrics metrics(MemoryDataset dataset, CocoDetections.Builder detections) {
        return metrics(dataset, detections, OFFICIAL);
    }

    private static CocoMetrics metrics(
            MemoryDataset dataset, CocoDetections.Builder detections, CocoParameters parameters) {
        GroundTruth groundTruth = GroundTruth.collect(dataset, parameters.iouType());
        return CocoMetrics.compute(groundTruth, detections.build(), parameters, 2);
    }

    private static double[] values(CocoMetrics metrics) {
        return metrics.summary().stream().mapToDouble(SummaryRow::value).toArray();
    }

    /** The 12 metrics and the sums of precision, recall and scores, from pycocotools 2.0.11. */
    private static void check(CocoMetrics metrics, double[] values, double... sums) {
        assertArrayEquals(values, values(metrics), 1e-9);
        double[] actual = {
            Arrays.stream(metrics.precision().toArray()).sum(),
            Arrays.stream(metrics.recall().toArray()).sum(),
            Arrays.stream(metrics.scores().toArray()).sum()
        };
        assertArrayEquals(sums, actual, 1e-9);
    }

    @Test
    void equalsPycocotoolsOnBoxesAndMasks() {
        RandomScene scene = new RandomScene();
        double[] values = {
            0.27401180757740545, 0.4568587019752225, 0.3089761094641087, 0.03283828382838284,
            0.33522895096045174, 0.5796905940594059, 0.2960526315789474, 0.4474467418546366,
            0.4474467418546366, 0.15750000000000003, 0.4878365384615385, 0.6875
        };
        double[] sums = {1525.6819956525524, 68.65322922691344, -190.59999999999957};
        check(metrics(scene.dataset, scene.boxes), values, sums);
        CocoParameters masks = CocoParameters.official(IouType.MASK);
        check(metrics(scene.dataset, scene.masks, masks), values, sums);
    }

    @Test
    void equalsPycocotoolsWithoutClasses() {
        RandomScene scene = new RandomScene();
        CocoParameters parameters =
                new CocoParameters(IouType.BOX, IouType.BOX, List.of(1, 10, 100), false);
        double[] values = {
            0.2986344632134227, 0.5343970882085252, 0.31757388547845206, 0.03042948442001391,
            0.3704045907629454, 0.5382178217821783, 0.2017543859649123, 0.4666666666666666,
            0.47192982456140353, 0.15999999999999998, 0.526829268292683, 0.6166666666666667
        };
        check(
                metrics(scene.dataset, scene.boxes, parameters),
                values,
                3271.877566923191,
                43.768549422336335,
                2896.35);
    }

    @Test
    void equalsPycocotoolsAtOtherLimits() {
        RandomScene scene = new RandomScene();
        CocoParameters parameters =
                new CocoParameters(IouType.BOX, IouType.BOX, List.of(1, 2, 3), true);
        double[] values = {
            0.2669650945557406,
            0.4396842256266588,
            0.3004303411493124,
            0.02326732673267327,
            0.3471500364322146,
            0.4472029702970297,
            0.2960526315789474,
            0.40227130325814536,
            0.41488095238095235,
            0.1025,
            0.48283653846153846,
            0.5375
        };
        check(
                metrics(scene.dataset, scene.boxes, parameters),
                values,
                469.9135753856672,
                46.21858010410642,
                -1237.3000000000002);
    }

    /** 240 objects per image; pycocotools' {@code summarize} prints -1 for AP at 500 detections. */
    @ParameterizedTest
    @MethodSource
    void apOfDenseImagesEqualsPycocotoolsAtTheLargestLimit(
            List<Integer> limits, double[] values, double[] sums) {
        DenseScene scene = new DenseScene();
        CocoParameters parameters = new CocoParameters(IouType.BOX, IouType.BOX, limits, true);
        check(metrics(scene.dataset, scene.boxes, parameters), values, sums);
    }

    static List<Arguments> apOfDenseImagesEqualsPycocotoolsAtTheLargestLimit() {
        double[] official = {
            0.20939859974888295,
            0.5209590622197101,
            0.1226091179313487,
            0.20939859974888295,
            -1,
            -1,
            0.002916666666666667,
            0.053166666666666654,
            0.3697499999999999,
            0.3697499999999999,
            -1,
            -1
        };
        double[] all = {
            0.28631095873289275,
            0.7141954189073012,
            0.17530538745831933,
            0.28631095873289275,
            -1,
            -1,
            0.002916666666666667,
            0.053166666666666654,
            0.5305833333333333,
            0.5305833333333333,
            -1,
            -1
        };
        double[] one = {
            0.23320328109539007,
            0.5876305612501305,
            0.13822413936206976,
            0.23320328109539007,
            -1,
            -1,
            0.41600000000000004,
            0.41600000000000004,
            -1,
            -1
        };
        return List.of(
                Arguments.of(
                        List.of(1, 10, 100),
                        official,
                        new double[] {-11098.491927351206, -102.96666666666667, -10985.08}),
                Arguments.of(
                        List.of(1, 10, 500),
                        all,
                        new double[] {-10787.765997055805, -96.53333333333333, -10765.28}),
                Arguments.of(
                        List.of(150), one, new double[] {-3097.8587443746237, -23.36, -3056.52}));
    }

    @Test
    void perClassNumbersEqualPycocotools() {
        RandomScene scene = new RandomScene();
        List<ClassMetrics> rows = metrics(scene.dataset, scene.boxes).perClass();
        double[] expected = {
            0.13185672056131548, 0.31105427013289566, 0.37095657184766095, 0.2821796677677498, -1
        };
        assertArrayEquals(expected, rows.stream().mapToDouble(row -> row.ap()).toArray(), 1e-9);
        assertEquals("e", rows.get(4).name());
        assertEquals(0, rows.get(4).objects());
    }

    @Test
    void numberOfThreadsDoesNotMatter() {
        RandomScene scene = new RandomScene();
        GroundTruth groundTruth = GroundTruth.collect(scene.dataset, IouType.BOX);
        CocoDetections detections = scene.boxes.build();
        CocoMetrics one = CocoMetrics.compute(groundTruth, detections, OFFICIAL, 1);
        CocoMetrics many = CocoMetrics.compute(groundTruth, detections, OFFICIAL, 5);
        assertArrayEquals(one.precision().toArray(), many.precision().toArray());
        assertArrayEquals(one.recall().toArray(), many.recall().toArray());
        assertArrayEquals(one.scores().toArray(), many.scores().toArray());
        assertEquals(one.matchStatuses(), many.matchStatuses());
    }

    /** An IoU of exactly .8 passes the threshold .8. */
    @Test
    void thresholdsAreInclusive() {
        MemoryDataset dataset =
                new MemoryDataset("a")
                        .addImage(1)
                        .object(0, 0, 0, 40, 40, 1600)
                        .object(0, 50, 50, 40, 40, 1600);
        CocoDetections.Builder detections =
                new CocoDetections.Builder()
                        .add(1, 0, new Annotation.Bbox(0, 0, 40, 32), .9)
                        .add(1, 0, new Annotation.Bbox(60, 0, 10, 10), .8);
        CocoMetrics metrics = metrics(dataset, detections);
        double ap = 51 / 101.0;
        double[] expected = {.7 * ap, ap, ap, -1, .7 * ap, -1, .35, .35, .35, -1, .35, -1};
        assertArrayEquals(expected, values(metrics), 1e-12);
        assertFalse(metrics.values().containsKey("APs"), "undefined numbers are left out");
        assertEquals(.7 * ap, metrics.values().get("AP"), 1e-12);
        CocoAverages averages = metrics.averages();
        double[] typed = {
            averages.ap(),
            averages.ap50(),
            averages.ap75(),
            averages.apSmall(),
            averages.apMedium(),
            averages.apLarge()
        };
        assertArrayEquals(Arrays.copyOf(expected, 6), typed, 1e-12);
        assertEquals(.35, averages.ar(), 1e-12);
        assertEquals(metrics.perClass(), averages.perClass());
    }

    /** Annotation ids start at 0 here; pycocotools never counts id 0 as found. */
    @Test
    void predictingTheGroundTruthIsPerfect() {
        RandomScene scene = new RandomScene();
        CocoDetections.Builder detections = new CocoDetections.Builder();
        for (int i = 0; i < scene.dataset.size(); i++) {
            long image = scene.dataset.image(i).id();
            scene.dataset
                    .annotations(i)
                    .forEach(
                            a ->
                                    detections.add(
                                            image,
                                            a.label(),
                                            new Annotation.Bbox(
                                                    a.box().x(),
                                                    a.box().y(),
                                                    a.box().width(),
                                                    a.box().height()),
                                            1));
        }
        CocoMetrics metrics = metrics(scene.dataset, detections);
        for (String name : List.of("AP", "AP50", "AP75", "AR@100")) {
            assertEquals(1, metrics.values().get(name), 1e-12, name);
        }
        assertFalse(metrics.matchStatuses().contains(MatchStatus.FALSE_POSITIVE));
    }

    @Test
    void detectionsInCrowdsAreIgnored() {
        MemoryDataset dataset =
                new MemoryDataset("a")
                        .addImage(1)
                        .crowd(0, 0, 0, 100, 100)
                        .object(0, 150, 150, 50, 50, 2500);
        CocoDetections.Builder detections =
                new CocoDetections.Builder()
                        .add(1, 0, new Annotation.Bbox(10, 10, 20, 20), .9)
                        .add(1, 0, new Annotation.Bbox(40, 40, 20, 20), .8)
                        .add(1, 0, new Annotation.Bbox(150, 150, 50, 50), .7)
                        .add(1, 0, new Annotation.Bbox(151, 150, 50, 50), .6);
        CocoMetrics metrics = metrics(dataset, detections);
        assertEquals(
                List.of(
                        MatchStatus.IGNORED,
                        MatchStatus.IGNORED,
                        MatchStatus.TRUE_POSITIVE,
                        MatchStatus.FALSE_POSITIVE),
                metrics.matchStatuses());
        assertEquals(1, metrics.values().get("AP"), 1e-12);
        assertEquals(1, metrics.perClass().get(0).objects());
    }

    @Test
    void earlierOfEqualScoresIsMatchedFirst() {
        MemoryDataset dataset =
                new MemoryDataset("a").addImage(1).object(0, 0, 0, 50, 50, 2500).addImage(2);
        CocoDetections.Builder detections =
                new CocoDetections.Builder()
                        .add(2, 0, new Annotation.Bbox(0, 0, 50, 50), .5)
                        .add(1, 0, new Annotation.Bbox(0, 0, 50, 48), .5)
                        .add(1, 0, new Annotation.Bbox(0, 0, 50, 50), .5);
        CocoMetrics metrics = metrics(dataset, detections);
        assertEquals(
                List.of(
                        MatchStatus.FALSE_POSITIVE,
                        MatchStatus.TRUE_POSITIVE,
                        MatchStatus.FALSE_POSITIVE),
                metrics.matchStatuses());
        // Image 1 precedes image 2, so the match comes first although it was added later.
        assertEquals(1, metrics.values().get("AP50"), 1e-12);
    }

    @Test
    void handlesNoDetectionsAndNoObjects() {
        MemoryDataset dataset = new MemoryDataset("a").addImage(1).object(0, 0, 0, 50, 50, 2500);
        assertEquals(0, metrics(dataset, new CocoDetections.Builder()).values().get("AP"));
        MemoryDataset empty = new MemoryDataset("a").addImage(1);
        CocoDetections.Builder stray =
                new CocoDetections.Builder().add(1, 0, new Annotation.Bbox(0, 0, 9, 9), 1);
        CocoMetrics undefined = metrics(empty, stray);
        assertTrue(IntStream.range(0, 12).allMatch(i -> values(undefined)[i] == -1));
        assertTrue(undefined.values().isEmpty());
        assertTrue(undefined.curves(0).isEmpty());
    }

    @Test
    void curvesContainPrecisionAndScore() {
        MemoryDataset dataset =
                new MemoryDataset("a", "b")
                        .addImage(1)
                        .object(0, 0, 0, 50, 50, 2500)
                        .object(0, 100, 0, 50, 50, 2500);
        CocoDetections.Builder detections =
                new CocoDetections.Builder()
                        .add(1, 0, new Annotation.Bbox(0, 100, 50, 50), .9)
                        .add(1, 0, new Annotation.Bbox(0, 0, 50, 50), .8);
        List<PrecisionRecallCurve> curves = metrics(dataset, detections).curves(5);
        assertEquals(1, curves.size(), "a class without objects has no curve");
        PrecisionRecallCurve curve = curves.get(0);
        assertEquals(.75, curve.iou());
        assertEquals(.5, curve.precision().get(50), 1e-12);
        assertEquals(0, curve.precision().get(51));
        assertEquals(.8, curve.scores().get(50));
    }

    @Test
    void unknownImagesAndLabelsAreListed() {
        MemoryDataset dataset = new MemoryDataset("a").addImage(1);
        CocoDetections.Builder detections =
                new CocoDetections.Builder()
                        .add(77, 0, new Annotation.Bbox(0, 0, 9, 9), 1)
                        .add(1, 3, new Annotation.Bbox(0, 0, 9, 9), 1);
        SaccadeException error =
                assertThrows(SaccadeException.class, () -> metrics(dataset, detections));
        assertEquals(SaccadeException.Kind.USER, error.kind());
        assertTrue(error.getMessage().contains("77"), error.getMessage());
        assertTrue(error.getMessage().contains("[3]"), error.getMessage());
    }

    @Test
    void masksOfAnotherSizeAreReported() {
        MemoryDataset dataset = new MemoryDataset("a").addImage(8).object(0, 0, 0, 9, 9, 81);
        Rle mask = Rle.fromBox(new Size(20, 20), 0, 0, 9, 9);
        CocoDetections.Builder detections = new CocoDetections.Builder().add(8, 0, mask, 1);
        CocoParameters masks = CocoParameters.official(IouType.MASK);
        SaccadeException error =
                assertThrows(SaccadeException.class, () -> metrics(dataset, detections, masks));
        assertTrue(error.getMessage().contains("a different size: [8]"));
    }

    @Test
    void objectsWithoutMaskAreReported() {
        MemoryDataset dataset =
                new MemoryDataset("a").addImage(8).object(0, 0, 0, 9, Double.NaN, 81);
        SaccadeException error =
                assertThrows(
                        SaccadeException.class, () -> GroundTruth.collect(dataset, IouType.MASK));
        assertTrue(error.getMessage().contains("annotation 0: "), error.getMessage());
    }

    @Test
    void invalidInputIsReported() {
        assertThrows(
                SaccadeException.class,
                () ->
                        new CocoDetections.Builder()
                                .add(1, 0, new Annotation.Bbox(0, 0, Double.NaN, 9), 1));
        MemoryDataset none = new MemoryDataset().addImage(1);
        assertThrows(SaccadeException.class, () -> metrics(none, new CocoDetections.Builder()));
        assertThrows(
                IllegalArgumentException.class,
                () -> new CocoParameters(IouType.BOX, IouType.BOX, List.of(10, 1, 100), true));
        MemoryDataset dataset = new MemoryDataset("a").addImage(1).object(0, 0, 0, 9, 9, 81);
        CocoDetections.Builder boxes =
                new CocoDetections.Builder().add(1, 0, new Annotation.Bbox(0, 0, 9, 9), 1);
        CocoParameters masks = CocoParameters.official(IouType.MASK);
        assertThrows(SaccadeException.class, () -> metrics(dataset, boxes, masks));
    }
}

package dev.saccade.eval.detection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.datasets.Annotation;
import dev.saccade.eval.MemoryDataset;
import dev.saccade.eval.MetricTable;
import dev.saccade.eval.coco.CocoDetections;
import dev.saccade.eval.coco.CocoMetrics;
import dev.saccade.eval.coco.CocoParameters;
import dev.saccade.eval.coco.GroundTruth;
import dev.saccade.eval.coco.IouType;
import dev.saccade.eval.tide.ErrorBreakdown;

import org.junit.jupiter.api.Test;

import java.util.List;

class DetectionTablesTest {

    private static final CocoMetrics METRICS =
            CocoMetrics.compute(
                    GroundTruth.collect(
                            new MemoryDataset("cat", "umbrella")
                                    .addImage(1)
                                    .object(0, 0, 0, 50, 50, 2500),
                            IouType.BOX),
                    new CocoDetections.Builder()
                            .add(1, 0, new Annotation.Bbox(0, 0, 50, 50), 1)
                            .build(),
                    CocoParameters.official(IouType.BOX),
                    1);

    @Test
    void undefinedMetricsAreShownAsNotAvailable() {
        assertEquals(
                """
                class     objects     AP   AP50   AP75  APs    APm  APl
                cat             1  1.000  1.000  1.000  n/a  1.000  n/a
                umbrella        0    n/a    n/a    n/a  n/a    n/a  n/a\
                """,
                DetectionTables.perClass(List.of(METRICS))
                        .toString()
                        .replace(System.lineSeparator(), "\n"));
    }

    @Test
    void summaryHasTwelveRows() {
        MetricTable table = DetectionTables.summary(List.of(METRICS));
        assertEquals(13, table.rows().size());
        assertEquals(
                "AR@10   0.50:0.95     all          10  1.000",
                table.toString().lines().skip(8).findFirst().orElseThrow());
    }

    @Test
    void perThresholdHasTenRows() {
        MetricTable table = DetectionTables.perThreshold(List.of(METRICS));
        assertEquals(List.of("IoU", "AP", "APs", "APm", "APl"), table.rows().get(0));
        assertEquals(List.of("0.95", "1.000", "n/a", "1.000", "n/a"), table.rows().get(10));
    }

    @Test
    void errorAndConfusionTablesHaveNames() {
        GroundTruth groundTruth =
                GroundTruth.collect(
                        new MemoryDataset("cat", "umbrella")
                                .addImage(1)
                                .object(0, 0, 0, 50, 50, 2500),
                        IouType.BOX);
        CocoDetections detections =
                new CocoDetections.Builder()
                        .add(1, 1, new Annotation.Bbox(0, 0, 50, 50), 1)
                        .build();
        assertEquals(
                """
                error           count  +AP50
                classification      1  1.000
                localization        0  0.000
                both                0  0.000
                duplicate           0  0.000
                background          0  0.000
                missed              0  0.000\
                """,
                DetectionTables.errors(
                                List.of(
                                        ErrorBreakdown.compute(
                                                groundTruth, detections, IouType.BOX, 100)))
                        .toString()
                        .replace(System.lineSeparator(), "\n"));
        assertEquals(
                List.of(List.of("class", "predicted as", "count"), List.of("cat", "umbrella", "1")),
                DetectionTables.confusions(
                                ConfusionMatrix.compute(groundTruth, detections, IouType.BOX, .3),
                                10)
                        .rows());
    }
}

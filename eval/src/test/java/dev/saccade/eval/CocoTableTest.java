package dev.saccade.eval;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class CocoTableTest {

    private static final CocoMetrics METRICS =
            CocoMetrics.of(
                    GroundTruth.of(
                            new MemoryDataset("cat", "umbrella")
                                    .image(1)
                                    .object(0, 0, 0, 50, 50, 2500),
                            IouType.BOX),
                    new Detections.Builder().add(1, 0, 0, 0, 50, 50, 1).build(),
                    CocoParameters.official(IouType.BOX),
                    1);

    @Test
    void undefinedNumbersAreNotNumbers() {
        assertEquals(
                """
                class     objects     AP   AP50   AP75  APs    APm  APl
                cat             1  1.000  1.000  1.000  n/a  1.000  n/a
                umbrella        0    n/a    n/a    n/a  n/a    n/a  n/a""",
                CocoTable.perClass(METRICS).toString().replace(System.lineSeparator(), "\n"));
    }

    @Test
    void summaryHasTwelveRows() {
        CocoTable table = CocoTable.summary(METRICS);
        assertEquals(13, table.rows().size());
        assertEquals(
                "AR@10   0.50:0.95     all          10  1.000",
                table.toString().lines().skip(8).findFirst().orElseThrow());
    }
}

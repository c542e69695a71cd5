package dev.saccade.report.runs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.report.Block;
import dev.saccade.report.Charts;
import dev.saccade.report.Commands;
import dev.saccade.report.DetectionExample;
import dev.saccade.report.Examples;
import dev.saccade.report.FactList;
import dev.saccade.report.FactList.Fact;
import dev.saccade.report.FractionTable;
import dev.saccade.report.HeatMap;
import dev.saccade.report.Histogram;
import dev.saccade.report.Histogram.Bar;
import dev.saccade.report.LineChart;
import dev.saccade.report.Section;
import dev.saccade.report.SegmentationExample;
import dev.saccade.report.TextTable;
import dev.saccade.report.runs.RunMetrics.DataSummary;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;

class MetricsFileTest {

    private static final String NAME = "</script>\u202E\"\u05D0";

    @TempDir Path run;

    @Test
    void metricsSurviveRoundTrip() throws Exception {
        Files.write(run.resolve("best.safetensors"), new byte[] {1, 2, 3});
        List<Block> blocks =
                List.of(
                        Charts.of(
                                List.of(
                                        new LineChart(
                                                        NAME,
                                                        "score",
                                                        List.of(
                                                                LineChart.Series.of(
                                                                        NAME,
                                                                        new double[] {0.1, 1 / 3.0},
                                                                        new double[] {
                                                                            Double.NaN, 1e-300
                                                                        })))
                                                .withUnitAxes())),
                        new Commands(List.of("./saccade predict x")),
                        new FactList(List.of(new Fact(NAME, "1", "note"))),
                        new HeatMap(NAME, List.of("a"), List.of(List.of(1L << 40)), true),
                        new FractionTable(
                                List.of("Class"),
                                List.of(new FractionTable.Row(NAME, "5", List.of(-1.0, 2 / 3.0))),
                                true),
                        new TextTable(List.of("Run"), List.of(List.of(NAME))));
        SegmentationExample label =
                new SegmentationExample(NAME, "", "AQ==", Set.of(3), 0.25, "tally");
        Examples labels = Examples.of(List.of(label), List.of(NAME), 0, 40);
        RunMetrics figures = figures(labels, blocks);
        MetricsFile.write(run, figures);
        RunMetrics read = MetricsFile.read(run).orElseThrow();
        assertEquals(figures.data(), read.data());
        RunMetrics.CheckpointMetrics before = figures.checkpoint().orElseThrow();
        RunMetrics.CheckpointMetrics after = read.checkpoint().orElseThrow();
        assertEquals(before.weights(), after.weights());
        assertEquals(before.latency(), after.latency());
        assertEquals(before.task().sections(), after.task().sections());
        assertEquals(before.task().headline(), after.task().headline());
        assertEquals(40, after.task().examples().all());
        MetricsFile.write(run, read);
        assertEquals(figures.subtitle(), MetricsFile.read(run).orElseThrow().subtitle());
        assertTrue(read.matches(run.resolve("best.safetensors"), 1));
        assertTrue(!read.matches(run.resolve("best.safetensors"), 2), "40 images, one is shown");
        Files.write(run.resolve("best.safetensors"), new byte[] {1, 2, 4});
        assertTrue(!read.matches(run.resolve("best.safetensors"), 1), "another checkpoint");
    }

    @Test
    void objectsSurviveRoundTrip() {
        Size size = new Size(30, 40);
        Rle mask = Rle.fromBox(size, 3, 4, 10, 12);
        Instances found =
                Instances.predicted(Boxes.of(3, 4, 13.25f, 16), new int[] {2}, new float[] {0.123f})
                        .withMasks(List.of(mask));
        DetectionExample example =
                new DetectionExample(
                        NAME,
                        size,
                        "Bwg=",
                        Instances.groundTruth(Boxes.of(1, 2, 3, 4), 0),
                        Instances.groundTruth(Boxes.of(5, 2, 9, 4), 0),
                        found);
        MetricsFile.write(
                run, figures(Examples.of(List.of(example), List.of("a"), 0.42, 1), List.of()));
        Examples read =
                MetricsFile.read(run).orElseThrow().checkpoint().orElseThrow().task().examples();
        DetectionExample same = (DetectionExample) read.rows().get(0).get(0);
        assertEquals(found.toString(), same.predictions().toString());
        assertEquals(mask, same.predictions().mask(0));
        assertEquals(example.truth().toString(), same.truth().toString());
        assertEquals(example.crowds().toString(), same.crowds().toString());
        assertEquals(NAME, same.name());
    }

    @Test
    void ignoresOtherFormatsAndReportsDamage() throws Exception {
        assertEquals(Optional.empty(), MetricsFile.read(run));
        Files.writeString(run.resolve("report.json"), "{\"format\": 99}");
        assertEquals(Optional.empty(), MetricsFile.read(run));
        for (String damaged :
                List.of("{", "{\"format\":6}", "{\"format\":6,\"metrics\":{\"data\":7}}")) {
            Files.writeString(run.resolve("report.json"), damaged);
            SaccadeException e = assertThrows(SaccadeException.class, () -> MetricsFile.read(run));
            assertTrue(e.getMessage().contains("report.json: damaged file"), e.getMessage());
        }
    }

    private RunMetrics figures(Examples examples, List<Block> blocks) {
        Path checkpoint = run.resolve("best.safetensors");
        RunMetrics.Weights weights =
                Files.exists(checkpoint)
                        ? RunMetrics.Weights.of(run, checkpoint, 12)
                        : new RunMetrics.Weights("best.safetensors", 1, "sum", 12);
        return new RunMetrics(
                NAME,
                new DataSummary(
                        List.of(new Fact("train", "2")),
                        List.of(new Histogram("h", "x", List.of(new Bar("b", 3))))),
                List.of(new Fact("java", "17")),
                Optional.of(
                        new RunMetrics.CheckpointMetrics(
                                weights,
                                12.5,
                                new Latency(1, 2, 1 / 3.0),
                                new TaskMetrics(
                                        List.of(new Fact("AP", "0.5", "boxes")),
                                        examples,
                                        List.of(new Section("s", "", blocks))))));
    }
}

package dev.saccade.report.runs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.core.Text;
import dev.saccade.report.LineChart;
import dev.saccade.report.LineChart.Series;
import dev.saccade.train.checkpoint.RunFolder;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

class RunCurvesTest {

    private static final String STEP = "{\"event\":\"step\",\"iteration\":%d,\"loss\":%s,";

    @TempDir Path folder;

    private LineChart losses(String... steps) throws IOException {
        Files.writeString(new RunFolder(folder).metrics(), String.join("\n", steps));
        return RunCurves.of(RunEvents.read(folder)).get(0);
    }

    private static String step(int iteration, String loss, String terms) {
        return Text.format(STEP, iteration, loss) + "\"losses\":{" + terms + "}}";
    }

    private static List<Double> values(LineChart chart, int curve) {
        return chart.series().get(curve).y();
    }

    @Test
    void drawsTotalLossWithTerms() throws IOException {
        LineChart chart =
                losses(
                        step(1, "3.0", "\"loss_cls\":1.0,\"loss_bbox\":2.0"),
                        step(2, "2.5", "\"loss_cls\":0.5,\"loss_bbox\":1.0,\"loss_mask\":1.0"));

        assertEquals(
                List.of("total", "loss_cls", "loss_bbox", "loss_mask"),
                chart.series().stream().map(Series::name).toList());
        assertEquals(List.of(3.0, 2.5), values(chart, 0));
        assertEquals(List.of(Double.NaN, 1.0), values(chart, 3));
    }

    @Test
    void aSingleTermIsTheTotal() throws IOException {
        LineChart chart = losses(step(1, "3.0", "\"loss_seg\":3.0"));

        assertEquals(List.of("loss_seg"), chart.series().stream().map(Series::name).toList());
    }

    @Test
    void nonFiniteLossesLeaveGaps() throws IOException {
        LineChart chart =
                losses(
                        step(1, "3.0", "\"loss_cls\":1.0,\"loss_bbox\":2.0"),
                        step(2, "null", "\"loss_cls\":null,\"loss_bbox\":2.0"));

        assertEquals(List.of(3.0, Double.NaN), values(chart, 0));
        assertEquals(List.of(1.0, Double.NaN), values(chart, 1));
        assertEquals(List.of(2.0, 2.0), values(chart, 2));
    }
}

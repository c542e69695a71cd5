package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

class ReportCommandTest {

    private static TinyRun tiny;

    @TempDir Path folder;

    @BeforeAll
    static void train() throws IOException {
        tiny = TinyRun.shared();
    }

    /** Copies the run; its data set is then missing. */
    private Path copy(String name) throws IOException {
        Path target = folder.resolve(name);
        try (Stream<Path> files = Files.walk(tiny.run())) {
            for (Path file : files.sorted().toList()) {
                Files.copy(file, target.resolve(tiny.run().relativize(file).toString()));
            }
        }
        Path config = target.resolve("config.yaml");
        String moved = Files.readString(config).replaceAll("(?m)^  root: .*$", "  root: moved");
        Files.writeString(config, moved);
        return target;
    }

    @Test
    void rewritesReportWithoutEvaluation() throws IOException {
        byte[] before = Files.readAllBytes(tiny.run().resolve("report.html"));
        Path page = folder.resolve("again.html");
        CommandResult again = saccade("report", tiny.run(), "--out", page);
        assertEquals(0, again.code(), again.err());
        assertFalse(again.err().contains("evaluate"), again.err());
        assertEquals(new String(before, UTF_8), Files.readString(page));
        assertTrue(Files.readString(page).contains("4 of 4 images"));
    }

    @Test
    void headlineFollowsCocoOrder() throws IOException {
        String page = Files.readString(tiny.run().resolve("report.html"));
        String cards = page.substring(page.indexOf("class=\"headline\""), page.indexOf("</dl>"));
        assertEquals(
                List.of("Box AP: IoU 0.50:0.95", "Box AP50: IoU ≥ 0.50", "Box AP75: IoU ≥ 0.75"),
                Pattern.compile("<dt>([^<]*)</dt><dd>[^<]*</dd><dd class=\"note\">([^<]*)<")
                        .matcher(cards)
                        .results()
                        .limit(3)
                        .map(card -> card.group(1) + ": " + card.group(2))
                        .toList());
        assertTrue(page.contains("<h2>Confusion matrix (score ≥ "));
        assertFalse(Pattern.compile("IoU (of )?\\.[0-9]").matcher(page).find());
    }

    @Test
    void copiedRunNeedsNoData() throws IOException {
        Path run = copy("copied");
        // An incomplete line of a running training.
        Files.writeString(
                run.resolve("metrics.jsonl"), "{\"event\":\"st", StandardOpenOption.APPEND);
        CommandResult output = saccade("report", run);
        assertEquals(0, output.code(), output.err());
        String page = Files.readString(run.resolve("report.html"));
        assertTrue(page.contains("Validation images"));
        assertTrue(page.contains("./saccade predict " + run));
    }

    @Test
    void evaluatesWithDataOption() throws IOException {
        Path run = copy("other");
        Files.delete(run.resolve("report.json"));
        CommandResult without = saccade("report", run);
        assertEquals(0, without.code(), without.err());
        assertTrue(
                without.err()
                        .contains("the run is not evaluated (set the data set with --data DIR)"),
                without.err());
        String page = Files.readString(run.resolve("report.html"));
        assertTrue(page.contains("Not evaluated yet."));
        assertTrue(page.contains("Learning rate") && !page.contains("Validation images"));
        assertFalse(Files.exists(run.resolve("report.json")));

        CommandResult with = saccade("report", run, "--data", tiny.scenes(), "--examples", "2");
        assertEquals(0, with.code(), with.err());
        page = Files.readString(run.resolve("report.html"));
        assertTrue(page.contains("2 of 4 images; show all: ./saccade report RUN --examples 4"));
        assertTrue(page.contains("SHA-256"));
    }

    @Test
    void comparesRuns() throws IOException {
        Path other = copy("slower");
        Path page = folder.resolve("comparison.html");
        CommandResult output = saccade("report", tiny.run(), other, "--out", page);
        assertEquals(0, output.code(), output.err());
        String html = Files.readString(page);
        assertFalse(html.contains("Evaluated on different images"), html);
        for (String shown :
                List.of(
                        "run · slower",
                        "Comparison of 2 runs",
                        "data.root",
                        "moved",
                        "4 of 4 images")) {
            assertTrue(html.contains(shown), shown);
        }
        assertEquals(4, html.split("class=\"truth\"", -1).length - 1);
        assertEquals(8, html.split("class=\"found\"", -1).length - 1);
    }

    @Test
    void warnsAboutDifferentValidationSets() throws IOException {
        Path other = copy("elsewhere");
        Path figures = other.resolve("report.json");
        Files.writeString(figures, Files.readString(figures).replace("4 images", "5 images"));
        Path page = folder.resolve("comparison.html");
        CommandResult output = saccade("report", tiny.run(), other, "--no-eval", "--out", page);
        assertEquals(0, output.code(), output.err());
        assertTrue(Files.readString(page).contains("Evaluated on different images"));
    }

    @Test
    void undefinedMetricsAreNotNull() throws IOException {
        Path other = copy("longer");
        Path config = other.resolve("config.yaml");
        Files.writeString(
                config, Files.readString(config).replace("iterations: null", "iterations: 8"));
        Path page = folder.resolve("comparison.html");
        CommandResult output = saccade("report", tiny.run(), other, "--no-eval", "--out", page);
        assertEquals(0, output.code(), output.err());
        String html = Files.readString(page);
        assertTrue(html.contains("<th scope=\"row\">iterations</th><td>–</td><td>8</td>"), html);
        assertTrue(html.contains("<th scope=\"row\">Latency</th>"), html);
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void rejectsVeryLongEventLines() throws IOException, InterruptedException {
        Path run = copy("strange");
        Path events = run.resolve("metrics.jsonl");
        Files.writeString(events, "{}\n" + "x".repeat(2 << 20));
        CommandResult huge = saccade("report", run, "--no-eval");
        assertEquals(2, huge.code(), huge.err());
        assertTrue(huge.err().contains("metrics.jsonl: line 2 has more than"), huge.err());
        Files.delete(events);
        assertEquals(0, new ProcessBuilder("mkfifo", events.toString()).start().waitFor());
        CommandResult pipe = saccade("report", run, "--no-eval");
        assertEquals(2, pipe.code(), pipe.err());
        assertTrue(pipe.err().contains("is a pipe, a socket or a device"), pipe.err());
    }

    @Test
    void reportsAllProblemsTogether() {
        CommandResult output = saccade("report", tiny.scenes(), folder.resolve("none"));
        assertEquals(2, output.code(), output.err());
        assertTrue(output.err().contains("2 problems"), output.err());
        CommandResult other = saccade("report", tiny.run(), "--out", folder.resolve("page.txt"));
        assertEquals(2, other.code(), other.err());
        assertTrue(other.err().contains("expected a file that ends in .html"), other.err());
    }
}

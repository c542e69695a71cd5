package dev.saccade.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.cli.Saccade;
import dev.saccade.core.structures.Size;
import dev.saccade.demo.SceneDataset;
import dev.saccade.demo.SceneRenderer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A custom evaluator runs next to the standard one and selects the best checkpoint. */
class CountingErrorTest {

    private static final Path CONFIG = Path.of("../configs/retinanet/resnet18_fpn_demo.yaml");

    @TempDir private Path folder;

    private record CommandResult(int code, String out, String err) {}

    private static CommandResult saccade(Object... arguments) {
        String[] args = new String[arguments.length];
        for (int i = 0; i < args.length; i++) {
            args[i] = arguments[i].toString();
        }
        PrintStream out = System.out;
        PrintStream err = System.err;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        ByteArrayOutputStream complained = new ByteArrayOutputStream();
        System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(complained, true, StandardCharsets.UTF_8));
        try {
            int code = Saccade.run(args);
            return new CommandResult(
                    code,
                    said.toString(StandardCharsets.UTF_8),
                    complained.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
    }

    private CommandResult train(String evaluation) {
        Path scenes = folder.resolve("scenes");
        if (!Files.exists(scenes)) {
            SceneDataset.write(scenes, new SceneRenderer(1, new Size(64, 96)), 8, 4, n -> {});
        }
        List<Object> args = new ArrayList<>(List.of("train", CONFIG, "--data", scenes));
        for (String setting :
                List.of(
                        "epochs=1",
                        "data.image_size=[96, 64]",
                        "model.backbone.base_channels=4",
                        "model.backbone.stem_channels=4",
                        "model.neck.out_channels=8",
                        "model.head.feat_channels=8",
                        "model.head.nms.score_thr=0.0001",
                        "evaluation=" + evaluation)) {
            args.addAll(List.of("--set", setting));
        }
        args.addAll(List.of("--out", folder.resolve("run")));
        return saccade(args.toArray());
    }

    @Test
    void addsItsMetricsAndCanBeMonitored() throws IOException {
        CommandResult trained =
                train(
                        "{evaluators: [{type: coco}, {type: counting_error, min_score: 0}],"
                                + " monitor: count_accuracy}");
        assertEquals(0, trained.code(), trained.err());
        assertTrue(trained.out().contains("neg_counting_error"), trained.out());
        Path run = folder.resolve("run");
        String log = Files.readString(run.resolve("metrics.jsonl"));
        JsonNode evaluated =
                log.lines()
                        .map(CountingErrorTest::json)
                        .filter(event -> event.path("event").asText().equals("evaluation"))
                        .findFirst()
                        .orElseThrow()
                        .path("metrics");
        assertTrue(evaluated.path("neg_counting_error").asDouble() < -1, log);
        assertTrue(evaluated.has("AP50"), log);

        CommandResult measured = saccade("eval", run, "--json");
        assertEquals(0, measured.code(), measured.err());
        JsonNode metrics = json(measured.out()).path("metrics");
        assertEquals(evaluated, metrics, "the best checkpoint is the only one");
    }

    private static JsonNode json(String text) {
        try {
            return new ObjectMapper().readTree(text);
        } catch (IOException e) {
            throw new AssertionError(text, e);
        }
    }

    @Test
    void monitorsItsKeyMetric() {
        CommandResult trained = train("{evaluators: [{type: counting_error}]}");
        assertEquals(0, trained.code(), trained.err());
        assertTrue(Files.exists(folder.resolve("run/checkpoints/best.safetensors")));
    }

    @Test
    void rejectsMismatchBeforeFirstStep() {
        CommandResult other = train("{evaluators: [{type: mean_iou}]}");
        assertEquals(2, other.code(), other.err());
        assertTrue(
                other.err()
                        .contains(
                                "evaluation.evaluators: mean_iou evaluates LabelMap, but the model"
                                        + " predicts Instances; expected one of [coco,"
                                        + " counting_error]"),
                other.err());
        CommandResult twice = train("{evaluators: [{type: coco}, {type: coco}]}");
        assertEquals(2, twice.code(), twice.err());
        assertTrue(twice.err().contains("coco and coco both define the metric AP"), twice.err());
        CommandResult unknown = train("{evaluators: [{type: cocoa}]}");
        assertEquals(2, unknown.code(), unknown.err());
        assertTrue(unknown.err().contains("did you mean coco?"), unknown.err());
        CommandResult unmeasured =
                train("{evaluators: [{type: counting_error}], monitor: counting_accuracy}");
        assertEquals(2, unmeasured.code(), unmeasured.err());
        assertTrue(
                unmeasured
                        .err()
                        .contains(
                                "evaluation.monitor: unknown metric counting_accuracy; expected one of"),
                unmeasured.err());
        assertTrue(unmeasured.err().contains("did you mean count_accuracy?"), unmeasured.err());
        assertFalse(Files.exists(folder.resolve("run")));
    }
}

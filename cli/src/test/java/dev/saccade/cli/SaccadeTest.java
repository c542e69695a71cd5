package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.backbones.BackboneSummary;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.core.Text;
import dev.saccade.core.structures.Size;
import dev.saccade.demo.SceneDataset;
import dev.saccade.demo.SceneRenderer;
import dev.saccade.models.Detector;
import dev.saccade.report.predictions.ImageInputs;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Commands as users type them, mistakes included. */
class SaccadeTest {

    private static final Path CONFIGS = Path.of("..", "configs");
    private static final Path RECIPE =
            CONFIGS.resolve("retinanet").resolve("resnet18_fpn_demo.yaml");

    @TempDir static Path shared;
    @TempDir Path folder;

    @BeforeAll
    static void render() {
        SceneDataset.write(
                shared.resolve("scenes"), new SceneRenderer(1, new Size(64, 96)), 8, 4, n -> {});
    }

    /** Runs a command on small scenes with a narrow model, for two epochs. */
    private static CommandResult onScenes(String command, Path out, Object... more) {
        List<Object> args =
                new ArrayList<>(List.of(command, RECIPE, "--data", shared.resolve("scenes")));
        args.addAll(List.of("--set", "model.backbone.base_channels=4"));
        args.addAll(List.of("--set", "model.backbone.stem_channels=4"));
        args.addAll(List.of("--set", "model.neck.out_channels=8"));
        args.addAll(List.of("--set", "model.head.feat_channels=8"));
        args.addAll(List.of("--set", "log_interval=1", "--out", out));
        args.addAll(List.of(more));
        return saccade(args.toArray());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "demo",
                "train",
                "tune",
                "cross-validate",
                "eval",
                "report",
                "predict",
                "check",
                "browse",
                "info",
                "bench",
                "convert",
                "export",
                "config",
                "env"
            })
    void everyHelpHasAnExample(String command) {
        CommandResult help = saccade(command, "--help");
        assertEquals(0, help.code());
        assertTrue(
                help.out().contains("Example:  saccade " + command)
                        || (command.equals("env") && help.out().contains("saccade env")),
                help.out());
    }

    static Stream<List<Object>> mistakes() {
        return Stream.of(
                List.of(),
                List.of("tarin"),
                List.of("train"),
                List.of("train", "no_such.yaml"),
                List.of("config", RECIPE, "--set", "model.backbone.dept=50"),
                List.of("config", RECIPE, "--set", "epochs=many"),
                List.of("check", RECIPE, "--data", "no_such_folder"),
                List.of("train", RECIPE, "--data", "no_such_folder"),
                List.of("eval", "no_such_run"),
                List.of("predict", "no_such_run", "photo.jpg"),
                List.of("convert", "no_such.pth", "to.safetensors"),
                List.of("export", "no_such_run", "--out", "served"),
                List.of("info", RECIPE, "--size", "800"),
                List.of("info", RECIPE, "--classes", "0"),
                List.of("info", RECIPE, "--size", "2000000x2000000"),
                List.of("info", RECIPE, "--classes", "300000"),
                List.of("info"),
                List.of("info", "--backbones", RECIPE),
                List.of("info", "--backbones", "--jsn"),
                List.of("info", RECIPE, "--set", "model.neck.start_level=4"),
                List.of("info", RECIPE, "--set", "model.neck=null"),
                List.of(
                        "check",
                        RECIPE,
                        "--set",
                        "model.neck=null",
                        "--data",
                        shared.resolve("scenes")),
                List.of(
                        "train",
                        RECIPE,
                        "--set",
                        "model.neck=null",
                        "--data",
                        shared.resolve("scenes")),
                List.of("demo", "--scenes", "-1"),
                List.of("browse", RECIPE, "--count", "0"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"train", "check", "browse"})
    void rejectsConfigWithoutTrainingSet(String command) {
        CommandResult ended = saccade(command, RECIPE, "--set", "data.train=null");
        assertEquals(2, ended.code());
        assertTrue(ended.err().contains("data.train: missing; expected"), ended.err());
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void userErrorsHaveMessageAndExitCode(List<Object> arguments) {
        CommandResult ended = saccade(arguments.toArray());
        assertEquals(2, ended.code(), ended.err());
        assertFalse((ended.err() + ended.out()).isBlank());
        assertFalse(ended.err().contains("\tat "), ended.err());
    }

    @Test
    void timesOperatorsAndModels() throws IOException {
        JsonNode operators =
                new ObjectMapper()
                        .readTree(
                                saccade("bench", "ops", "--batch-size", 1, "--runs", 1, "--json")
                                        .out());
        assertTrue(operators.size() >= 2, operators.toString());
        assertTrue(operators.get(0).at("/times/portable/median").asDouble() > 0);
        CommandResult model = benchModel("--train", "--max-batch-size", 4);
        assertEquals(0, model.code(), model.err());
        assertTrue(model.out().contains("training, 2 x 64x96"), model.out());
        assertTrue(model.out().contains("  largest batch  "), model.out());
        JsonNode largest =
                new ObjectMapper()
                        .readTree(
                                benchModel(
                                                "--train",
                                                "--max-batch-size",
                                                "8",
                                                "--fused-only",
                                                "--json")
                                        .out())
                        .path("largest_batch");
        assertTrue(largest.path("images").asInt() >= largest.path("tried").asInt(), largest + "");
        assertTrue(largest.path("tried").asInt() > 1, largest + "");
        CommandResult fused = benchModel("--fused-only", "--precision", "bfloat16");
        assertEquals(0, fused.code(), fused.err());
        assertTrue(fused.out().contains("  precision      bfloat16"), fused.out());
        assertTrue(fused.out().contains("  host reads     1 ("), fused.out());
        assertFalse(fused.out().contains("speedup"), fused.out());
        CommandResult layers = benchModel("--layers");
        assertEquals(0, layers.code(), layers.err());
        assertTrue(layers.out().contains("backbone.layer1.0.conv1"), layers.out());
        assertTrue(layers.out().contains("GFLOP/s"), layers.out());
        assertTrue(layers.out().contains("float32"), layers.out());
        JsonNode json = new ObjectMapper().readTree(benchModel("--layers", "--json").out());
        assertEquals(4, json.at("/layers/0/output").size(), json.toString());
        assertTrue(json.at("/layers/0/seconds").asDouble() > 0, json.toString());
        assertEquals(2, benchModel("--layers", "--train").code());
        assertEquals(
                "saccade: --runs 0: expected a number above 0\n",
                saccade("bench", "ops", "--runs", 0).err());
    }

    private static CommandResult benchModel(Object... more) {
        List<Object> args = new ArrayList<>(List.of("bench", "model", RECIPE, "--runs", 1));
        args.addAll(List.of("--size", "64x96", "--batch-size", 2, "--classes", 3));
        args.addAll(List.of("--set", "model.backbone.base_channels=8"));
        args.addAll(List.of("--set", "model.head.feat_channels=8"));
        args.addAll(List.of(more));
        return saccade(args.toArray());
    }

    @Test
    void suggestsConfigKeys() {
        String err = saccade("config", RECIPE, "--set", "model.backbone.dept=50").err();
        assertTrue(err.contains("did you mean depth?"), err);
    }

    @Test
    void evaluatesLastCheckpointWithoutBest() throws IOException {
        Path run = folder.resolve("run");
        CommandResult trained = onScenes("train", run, "--set", "epochs=1");
        assertEquals(0, trained.code(), trained.err());
        Files.delete(run.resolve("checkpoints").resolve("best.safetensors"));
        CommandResult again = onScenes("train", run, "--set", "epochs=1", "--resume");
        assertEquals(0, again.code(), again.err());
        assertEquals(trained.out(), again.out());
    }

    @Test
    void trainsResumesEvaluatesAndPredicts() throws IOException {
        Path run = folder.resolve("run");
        CommandResult trained = onScenes("train", run, "--set", "epochs=2");
        assertEquals(0, trained.code(), trained.err());
        for (String file :
                List.of(
                        "config.yaml",
                        "train.log",
                        "metrics.jsonl",
                        "report.html",
                        "tensorboard")) {
            assertTrue(Files.exists(run.resolve(file)), file);
        }
        assertEquals(2, onScenes("train", run, "--set", "epochs=2").code(), "not resumed");
        assertEquals(2, saccade("train", run).code(), "not resumed");
        CommandResult resumed = saccade("train", run, "--set", "epochs=3", "--resume");
        assertEquals(0, resumed.code(), resumed.err());
        assertTrue(
                Files.readString(run.resolve("train.log")).contains("training on cpu in float32"));

        Path results = folder.resolve("results");
        JsonNode metrics =
                new ObjectMapper()
                        .readTree(saccade("eval", run, "--json", "--results", results).out());
        assertTrue(metrics.path("metrics").path("AP50").asDouble(-1) >= 0, metrics.toString());
        assertEquals(6, metrics.path("errors").size());
        assertEquals(5, metrics.path("confusion").path("counts").size());
        assertTrue(Files.exists(folder.resolve("results.bbox.json")));
        assertFalse(Files.exists(folder.resolve("results.segm.json")), "no masks");
        String tables = saccade("eval", run).out();
        assertTrue(tables.contains("0.95  ") && tables.contains("missed"), tables);

        Path nowhere = folder.resolve("nowhere").resolve("results");
        assertTrue(saccade("eval", run, "--results", nowhere).err().contains("--results"));
        assertTrue(saccade("eval", run, "--score", "30").err().contains("--score"));

        Path photos = shared.resolve("scenes").resolve("images");
        Path broken = Files.writeString(folder.resolve("broken.jpg"), "<html>");
        Path found = folder.resolve("found");
        CommandResult predicted =
                saccade("predict", run, photos, broken, "--out", found, "--score", "0.01");
        assertEquals(2, predicted.code());
        assertTrue(predicted.err().contains("broken.jpg"), predicted.err());
        assertTrue(Files.size(found.resolve("scene_0001.jpg")) > 0);
        Path best = run.resolve("checkpoints").resolve("best.safetensors");
        try (Detector detector = Detector.load(best)) {
            assertEquals(List.of("button", "coin", "key", "leaf"), detector.classes());
            assertTrue(detector.detect(photos.resolve("scene_0001.jpg")).size() <= 100);
        }
        assertEquals(
                12, new ObjectMapper().readTree(found.resolve("predictions.json").toFile()).size());
    }

    @Test
    void predictsAndEvaluatesNamedViews() throws IOException {
        Path run = folder.resolve("run");
        CommandResult trained =
                onScenes(
                        "train",
                        run,
                        "--set",
                        "epochs=1",
                        "--set",
                        "model.head.nms.score_thr=0.001",
                        "--set",
                        "data.tta={flipped: {flip: true}}",
                        "--set",
                        "data.val_tta=flipped");
        assertEquals(0, trained.code(), trained.err());
        Path photo = shared.resolve("scenes").resolve("images").resolve("scene_0001.jpg");
        Map<List<String>, String> found = new LinkedHashMap<>();
        List<List<String>> wanted =
                List.of(
                        List.of(),
                        List.of("--tta", "none"),
                        List.of("--tta", "flipped"),
                        List.of("--flip"),
                        List.of("--scales", "96x64,144x96"),
                        List.of("--scales=96x64", "--scales=144x96", "--flip"));
        for (List<String> options : wanted) {
            List<Object> args = new ArrayList<>(List.of("predict", run, photo, "--json"));
            args.addAll(List.of("--score", "0", "--out", folder.resolve("found"), "--overwrite"));
            args.addAll(options);
            CommandResult predicted = saccade(args.toArray());
            assertEquals(0, predicted.code(), predicted.err());
            found.put(options, predicted.out());
        }
        assertEquals(found.get(wanted.get(0)), found.get(wanted.get(1)), "a single view");
        assertEquals(found.get(wanted.get(2)), found.get(wanted.get(3)));
        assertEquals(4, Set.copyOf(found.values()).size());

        CommandResult byDefault = saccade("eval", run, "--json");
        assertEquals(0, byDefault.code(), byDefault.err());
        assertTrue(
                byDefault.err().contains("augmentation flipped (data.val_tta)"), byDefault.err());
        CommandResult named = saccade("eval", run, "--tta", "flipped", "--json");
        CommandResult flipped = saccade("eval", run, "--flip", "--json");
        CommandResult single = saccade("eval", run, "--tta", "none", "--json");
        assertEquals(byDefault.out(), named.out());
        assertEquals(byDefault.out(), flipped.out());
        assertNotEquals(byDefault.out(), single.out());
        assertFalse(single.err().contains("val_tta"), single.err());

        CommandResult mistaken = saccade("predict", run, photo, "--scales", "96x64,96x,0x64");
        assertEquals(2, mistaken.code());
        assertTrue(mistaken.err().contains("--scales: 2 problems"), mistaken.err());
        assertTrue(mistaken.err().contains("got 0x64, expected width and height"), mistaken.err());
        CommandResult unknown = saccade("eval", run, "--tta", "fliped");
        assertEquals(2, unknown.code());
        assertTrue(unknown.err().contains("none or one of [flipped]"), unknown.err());
        CommandResult both = saccade("eval", run, "--tta", "flipped", "--flip");
        assertEquals(2, both.code());
        assertTrue(both.err().contains("--tta and --flip"), both.err());
        CommandResult extended = saccade("extend", run, "--data", folder, "--max-drop", "5");
        assertEquals(2, extended.code());
        assertTrue(
                extended.err().contains("see --replay, --max-drop and --epochs of "),
                extended.err());
    }

    @Test
    void demoRunsCompletely() {
        System.setProperty("saccade.home", "..");
        Path run = folder.resolve("demo");
        List<Object> args = new ArrayList<>(List.of("demo", "--out", run, "--scenes", "8"));
        args.addAll(List.of("--set", "epochs=1", "--set", "model.backbone.base_channels=4"));
        args.addAll(List.of("--set", "data.val_transforms=[{type: normalize}, {type: pad}]"));
        CommandResult ended = saccade(args.toArray());
        assertEquals(0, ended.code(), ended.err());
        assertTrue(ended.out().contains("AP50"), ended.out());
        assertTrue(Files.exists(run.resolve("report.html")));
        assertTrue(Files.exists(run.resolve("predictions").resolve("scene_0009.jpg")));
        assertTrue(Files.exists(folder.resolve("demo-scenes").resolve("images")));
    }

    @Test
    void printsModelSummary() throws IOException {
        List<Object> args = new ArrayList<>(List.of("info", RECIPE, "--size", "97x131", "--json"));
        args.addAll(List.of("--set", "model.backbone={type: pvt, variant: tiny}"));
        args.addAll(List.of("--set", "model.neck.out_channels=8", "--classes", "1"));
        JsonNode info = new ObjectMapper().readTree(saccade(args.toArray()).out());
        assertEquals(12_714_752, info.path("parameters_by_part").path("backbone").asLong());
        assertEquals("stride 8: [1, 8, 12, 16]", info.path("features").path(0).asText());
        assertTrue(info.path("multiply_adds").asLong() > 0);
        assertTrue(info.path("counted_objects").isEmpty());
    }

    @Test
    void statesProposalsAndMasksOfMultiplyAdds() {
        Path recipe = CONFIGS.resolve("mask_rcnn").resolve("resnet18_fpn_nuts.yaml");
        CommandResult info = saccade("info", recipe, "--size", "64x64");
        assertTrue(
                info.out().contains("for an input of 64x64, 1,000 proposals, 100 masks"),
                info.out());
    }

    @Test
    void printsBackbones() {
        BackboneSummary summary =
                new BackboneSummary("tiny", 1_234_567, 1_234_567, 2_000_000, 4_490_000_000L);
        assertEquals(
                Text.format("%-40s %12s %15s %15s%n", "tiny", "1.23", "2.00", "4.49"),
                BackboneList.line(summary));
    }

    @Test
    void writesAugmentedSamples() throws IOException {
        Path out = folder.resolve("browse");
        assertEquals(0, onScenes("browse", out, "--count", "5").code());
        CommandResult again = onScenes("browse", out, "--count", "3", "--overwrite");
        assertTrue(again.err().endsWith("; open " + out.resolve("index.html") + "\n"), again.err());
        assertTrue(again.err().contains("3 pictures written to " + out), again.err());
        try (Stream<Path> files = Files.list(out)) {
            assertEquals(3, files.filter(ImageInputs::isImage).count(), "those of the last time");
        }
    }

    @Test
    void rejectsFaultyDataBeforeTraining() throws IOException {
        Path scenes = folder.resolve("scenes");
        SceneDataset.write(scenes, new SceneRenderer(1, new Size(64, 64)), 4, 2, n -> {});
        Files.delete(scenes.resolve("images").resolve("scene_0002.jpg"));
        Path run = folder.resolve("run");
        CommandResult ended = saccade("train", RECIPE, "--data", scenes, "--out", run);
        assertEquals(2, ended.code());
        assertTrue(ended.err().contains("scene_0002.jpg"), ended.err());
        assertFalse(Files.exists(run));
    }

    @Test
    void convertsBothWaysAndExports() throws IOException {
        Path run = folder.resolve("run");
        assertEquals(0, onScenes("train", run, "--set", "epochs=1").code());
        Path best = run.resolve("checkpoints").resolve("best.safetensors");
        Path torch = folder.resolve("best.pth");
        Path back = folder.resolve("back.safetensors");
        assertEquals(0, saccade("convert", best, torch).code());
        assertEquals(0, saccade("convert", torch, back).code());
        assertEquals(2, saccade("convert", torch, back).code(), "overwrites");
        Path again = folder.resolve("again.pth");
        assertEquals(0, saccade("convert", back, again).code());
        assertArrayEquals(Files.readAllBytes(torch), Files.readAllBytes(again));

        Path theirs = folder.resolve("theirs.pth");
        Path ours = folder.resolve("ours.pth");
        assertEquals(0, saccade("convert", best, theirs, "--names", "torchvision").code());
        assertTrue(Checkpoints.open(theirs).tensors().containsKey("backbone.body.conv1.weight"));
        assertEquals(0, saccade("convert", theirs, ours, "--names", "official").code());
        assertEquals(Checkpoints.open(best).tensors(), Checkpoints.open(ours).tensors());

        Path part = folder.resolve("part.pth");
        assertEquals(0, saccade("convert", theirs, part, "--names=official", "--part=neck").code());
        assertTrue(Checkpoints.open(part).tensors().containsKey("lateral_convs.0.conv.weight"));
        CommandResult unknown =
                saccade("convert", best, folder.resolve("x.pth"), "--names", "timm");
        assertEquals(2, unknown.code());
        assertTrue(unknown.err().contains("timm has no names for this model"), unknown.err());
        assertEquals(2, saccade("convert", best, folder.resolve("x.pth"), "--part=nek").code());
        assertEquals(2, saccade("convert", torch, folder.resolve("x.pth"), "--ema").code());

        Path served = folder.resolve("served");
        assertEquals(0, saccade("export", run, "--out", served).code());
        assertArrayEquals(
                Files.readAllBytes(best), Files.readAllBytes(served.resolve("model.safetensors")));
        assertTrue(Files.exists(served.resolve("serving.properties")));
        assertEquals(2, saccade("export", run, "--out", served).code(), "overwrites");
    }
}

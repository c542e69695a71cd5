package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.Version;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** Error messages and suggestions for wrong arguments. */
class MistakenArgumentsTest {

    private static final String CONFIG =
            "expected a config, such as configs/retinanet/resnet18_fpn_bccd.yaml";
    private static final String RUN = "expected a run folder written by train, or a checkpoint";
    private static final String CHECKPOINT =
            "expected a checkpoint, such as checkpoints/best.safetensors of a run";
    private static final String DATA = "; set data.root to the folder that contains ";

    private static final Path RECIPE =
            Path.of("..", "configs", "retinanet", "resnet18_fpn_demo.yaml");

    @TempDir static Path folder;

    /** Expected description of each path. */
    private static final Map<String, String> KINDS = new TreeMap<>();

    @BeforeAll
    static void lay() throws IOException {
        KINDS.put("nowhere", "no such file or folder");
        KINDS.put("a.yaml", "is a config");
        KINDS.put("a.YML", "is a config");
        KINDS.put("a.safetensors", "is a checkpoint");
        KINDS.put("a.pth", "is a checkpoint");
        KINDS.put("a.JPG", "is an image");
        KINDS.put("a.gif", "is an image");
        KINDS.put("a.json", "is a JSON file");
        KINDS.put("runs/a", "is the folder of a run");
        KINDS.put("runs", "is a folder of runs");
        KINDS.put("runs/a/checkpoints", "is a folder of checkpoints");
        KINDS.put("photos", "is a folder of images");
        KINDS.put("empty", "is an empty folder");
        KINDS.put("other", "is a folder");
        Files.createDirectories(folder.resolve("runs/a/checkpoints"));
        for (String name : List.of("photos", "empty", "other")) {
            Files.createDirectory(folder.resolve(name));
        }
        for (String file :
                List.of(
                        "a.yaml",
                        "a.YML",
                        "a.safetensors",
                        "a.pth",
                        "a.JPG",
                        "a.gif",
                        "a.json",
                        "runs/a/config.yaml",
                        "runs/a/checkpoints/last.pth",
                        "photos/a.png",
                        "other/a.txt")) {
            Files.createFile(folder.resolve(file));
        }
    }

    /** Checks that all kinds of paths except the fitting ones are rejected. */
    private static void assertRejected(
            String expected, List<String> fitting, List<Object> before, Object... behind) {
        KINDS.forEach(
                (name, words) -> {
                    Path path = folder.resolve(name);
                    List<Object> args = new ArrayList<>(before);
                    args.add(path);
                    args.addAll(List.of(behind));
                    CommandResult ended = saccade(args.toArray());
                    assertEquals(2, ended.code(), ended.err());
                    String output = "saccade: " + path + ": " + words + "; " + expected;
                    assertEquals(
                            !fitting.contains(name),
                            ended.err().contains(output),
                            () -> args + ": " + ended.err());
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"train", "check", "browse", "info", "config", "bench model"})
    void rejectsPathsThatAreNotConfigs(String command) {
        List<Object> words = List.copyOf(Pattern.compile(" ").splitAsStream(command).toList());
        List<String> fitting = new ArrayList<>(List.of("a.yaml", "a.YML", "runs/a"));
        if (!command.equals("train")) {
            fitting.addAll(List.of("a.safetensors", "a.pth"));
        }
        if (command.equals("check")) {
            fitting.addAll(List.of("photos", "empty", "other"));
        }
        assertRejected(CONFIG, fitting, words);
    }

    @Test
    void messageListsContentsOfFolderWithoutLabels() {
        for (String command : List.of("check", "new")) {
            assertMessage(
                    command + " " + folder.resolve("empty"),
                    "no labels found; expected COCO annotations");
            assertMessage(command + " " + folder.resolve("empty"), "neither labels nor images");
        }
        assertMessage("new " + folder.resolve("nowhere"), "no such folder; expected a folder of");
        assertMessage("new " + folder.resolve("a.json"), "is a file; expected a folder of");
    }

    @Test
    void findsBundledConfigsByName() {
        String whole = saccade("config", RECIPE).out();
        for (String name :
                List.of(
                        "retinanet/resnet18_fpn_demo",
                        "configs/retinanet/resnet18_fpn_demo.yaml",
                        "resnet18_fpn_demo")) {
            CommandResult ended = saccade("config", name);
            assertEquals(0, ended.code(), ended.err());
            assertEquals(
                    whole.replaceAll(" *# .*", ""), ended.out().replaceAll(" *# .*", ""), name);
        }
        assertMessage(
                "config resnet18_camvid", "expected one of semantic_fpn/resnet18_camvid, upernet/");
        assertMessage("train resnet18_fpn_bcd", "; did you mean resnet18_fpn_bccd?");
        assertMessage(
                "train mask_rcnn/focal_base",
                "; did you mean mask_rcnn/focal_base_fpn_1x_coco or"
                        + " mask_rcnn/focal_base_fpn_3x_coco?");
        assertMessage(
                "train retinanet/resnet18_fpn_bcd.yaml",
                "; did you mean retinanet/resnet18_fpn_bccd");
    }

    @Test
    void suggestsNewForLabelsInsteadOfConfig() throws IOException {
        Path labels = Files.createDirectory(folder.resolve("other/labels"));
        Path yolo = labels.resolve("data.yaml");
        Files.writeString(yolo, "path: .\ntrain: images\nnames: [a]\n");
        String output = "; create one for these labels with ./saccade new " + labels;
        assertMessage("train " + labels, output);
        assertMessage(
                "train " + yolo,
                String.format(
                        Locale.ROOT,
                        "describes YOLO labels; %s; convert them first: ./saccade convert-data %s --out",
                        CONFIG,
                        labels));
        assertMessage("train " + Files.createFile(labels.resolve("a.json")), output);
        assertMessage(
                "predict " + folder.resolve("a.JPG") + " " + folder.resolve("photos"),
                "put the images after RUN");
    }

    @Test
    void suggestsRuns() {
        assertMessage(
                "eval " + folder.resolve("runs/a/checkpoints"),
                RUN + ", such as " + folder.resolve("runs/a"));
    }

    private static void assertMessage(String line, String expected) {
        CommandResult ended = saccade((Object[]) line.split(" "));
        assertEquals(2, ended.code(), ended.err());
        assertTrue(ended.err().contains(expected), ended.err());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "train x --imgsz 640 | imgsz is --image-size 640x480 in Saccade",
                "train x --work-dir=y | work-dir is --out DIR in Saccade",
                "train x --conf 0.5 | conf is --score 0.3 in Saccade, an option of eval, predict",
                "eval x --weights a.pt | weights is RUN in Saccade: the first argument of eval and predict",
                "train x imgsz=640 | imgsz is --image-size 640x480 in Saccade",
                "val x | val is saccade eval in Saccade",
                "yolo | yolo: start with the command",
                "yolo detect train data=a.yaml | yolo detect train is saccade train in Saccade",
                "segment val | segment val is saccade eval in Saccade",
                "track x | track: use predict RUN VIDEO --track",
                "train x --imgsz 640 --patience 4 | patience is --set evaluation.patience=5 in Saccade",
                "predict --model a | model is RUN in Saccade",
                "predict model=a source=b.jpg conf=0.5 | source is IMAGE in Saccade",
                "predict model=a source=b.jpg conf=0.5 | conf is --score 0.3 in Saccade",
                "train x SOLVER.BASE_LR 0.01 | SOLVER.BASE_LR is --set optimizer.learning_rate=0.001 in",
                "train model=a data=b | data=b is --data b in Saccade",
                "demo/demo.py --input a.jpg | demo/demo.py is saccade predict in Saccade",
                "train x --resume conf=0.5 | conf is --score 0.3 in Saccade",
                "train x --format onnx | format is --format onnx in Saccade, an option of",
                "train x --epochs ten | --epochs: got ten, expected an integer",
                "train x --learning-rate fast | --learning-rate: got fast, expected a number",
                "train resnet18_fpn_demo --image-size 6x | --image-size: got 6x, expected width and height",
                "train resnet18_fpn_demo --device 0 | did you mean cuda:0?",
                "train resnet18_fpn_demo --precision fp16 | in Saccade it is float16",
                "train resnet18_fpn_demo --set precision=bf16 | in Saccade it is bfloat16",
                "train resnet18_fpn_demo --set lr=1 | in Saccade it is optimizer.learning_rate",
                "train resnet18_fpn_demo --set SOLVER.IMS_PER_BATCH=1 | IMS_PER_BATCH: in Saccade it is data.batch_size",
                "train resnet18_fpn_demo --set model.test_cfg.rpn.nms_pre=1 | in Saccade it is model.head (",
                "info resnet18_fpn_demo --set model.neck=null | saccade: model.head: got levels with [32, 64, 128, 256] channels, expected the same number in all",
                "train resnet18_fpn_demo --set data.num_classes=1 | the classes are read from the annotations",
                "train resnet18_fpn_demo --set data.train_transforms.7.probability=1 | got 7, expected an index from 0 to 3",
                "browse mask_rcnn/swin_tiny_fpn_1x_coco --image-size 640 | each resize in data.train_transforms sets its own scales",
            })
    void suggestsTermsAndValues(String line, String expected) {
        assertMessage(line, expected);
    }

    @Test
    void shortOptionsSetConfigValues() {
        String output =
                saccade(
                                "config",
                                "semantic_fpn/resnet18_camvid",
                                "--image-size",
                                "320x240",
                                "--batch-size",
                                3,
                                "--epochs",
                                5,
                                "--learning-rate",
                                "3e-4",
                                "--workers",
                                4)
                        .out();
        for (String line :
                List.of(
                        "image_size: [320, 240]",
                        "batch_size: 3",
                        "epochs: 5",
                        "iterations: null",
                        "learning_rate: 0.0003",
                        "workers: 4")) {
            assertTrue(output.contains(line), line + " in " + output);
        }
    }

    @Test
    void stepsReplaceEpochs() {
        CommandResult steps = saccade("config", "retinanet/resnet18_fpn_bccd", "--iterations", 7);
        assertTrue(steps.out().contains("iterations: 7"), steps.out());
        CommandResult both =
                saccade("config", "resnet18_fpn_bccd", "--iterations", 7, "--epochs", 1);
        assertEquals(2, both.code());
        assertTrue(both.err().contains("--epochs cannot be combined"), both.err());
    }

    @Test
    void rejectsPathsThatAreNotRuns() {
        List<String> fitting = List.of("a.safetensors", "a.pth", "runs/a");
        assertRejected(RUN, fitting, List.of("eval"));
        assertRejected(RUN, fitting, List.of("predict"), folder.resolve("photos"));
        assertRejected(RUN, fitting, List.of("export"), "--out", folder.resolve("served"));
        assertEquals(
                String.format(
                        Locale.ROOT,
                        "saccade: %s: the run has no checkpoint yet; resume the training%n",
                        folder.resolve("runs/a")),
                saccade("eval", folder.resolve("runs/a")).err());
    }

    @Test
    void suggestsCheckpointInFolder(@TempDir Path exported) throws IOException {
        Path checkpoint = Files.createFile(exported.resolve("model.safetensors"));
        assertMessage("eval " + exported, RUN + ", such as " + checkpoint);
    }

    @Test
    void rejectsPathsThatAreNotCheckpoints() {
        List<String> fitting = List.of("a.safetensors", "a.pth", "runs/a");
        assertRejected(CHECKPOINT, fitting, List.of("convert"), folder.resolve("to.pth"));
        assertRejected(CHECKPOINT, fitting, List.of("train", RECIPE, "--init-from"));
    }

    @Test
    void doesNotResumeAnotherConfig(@TempDir Path run) throws IOException {
        Files.writeString(
                run.resolve("config.yaml"), "base: saccade:retinanet/resnet18_fpn_bccd.yaml");
        assertMessage(
                "train dyhead/resnet18_fpn_dyhead_bccd --data nowhere --resume --out " + run,
                "model.head.type: was retinanet, is atss");
    }

    @ParameterizedTest
    @ValueSource(strings = {"train", "check", "browse"})
    void rejectsPathsThatAreNotDataFolders(String command) {
        for (String name : KINDS.keySet()) {
            Path path = folder.resolve(name);
            CommandResult ended = saccade(command, RECIPE, "--data", path);
            assertEquals(2, ended.code(), ended.err());
            if (!Files.isDirectory(path)) {
                String words = Files.exists(path) ? "is a file" : "no such folder";
                assertTrue(ended.err().contains(path + ": " + words + DATA), ended.err());
            }
        }
        CommandResult empty = saccade(command, RECIPE, "--data", folder.resolve("empty"));
        assertTrue(
                (empty.out() + empty.err()).contains("empty has neither labels nor images"),
                empty.toString());
    }

    @Test
    void reportsMissingDataFolder() {
        Path config = Path.of("..", "configs", "retinanet", "resnet18_fpn_bccd.yaml");
        for (String command : List.of("train", "check", "browse")) {
            CommandResult ended = saccade(command, config, "--set", "data.root=data/nowhere");
            assertEquals(2, ended.code());
            assertTrue(ended.err().contains("data/nowhere: no such folder" + DATA), ended.err());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "train, Missing required parameter: 'CONFIG', saccade train --help shows all options",
        "train a --st, Unknown option: '--st', saccade train --help shows all options",
        "tarin, Unmatched argument at index 0: 'tarin', saccade --help shows all options",
        "help tarin, Unknown subcommand 'tarin'., saccade --help shows all options",
        "bench, 'missing subcommand; expected ops, model CONFIG or ranks CONFIG', saccade bench --help shows all options",
        "bench ops --runs x, '--runs: got x, expected an integer', saccade bench ops --help shows all options",
        "info --backbones --jsn, Unknown option: '--jsn', saccade info --help shows all options"
    })
    void usageErrorsAreShort(String line, String message, String help) {
        CommandResult ended = saccade((Object[]) line.split(" "));
        assertEquals(2, ended.code());
        assertTrue(ended.err().startsWith("saccade: " + message.replace("\"", "")), ended.err());
        assertTrue(ended.err().endsWith(help + "\n"), ended.err());
        assertTrue(ended.err().lines().count() <= 3, ended.err());
        assertEquals("", ended.out());
    }

    @Test
    void suggestsCommands() {
        assertTrue(saccade("tarin").err().contains("saccade train"));
    }

    @Test
    void helpIsACommand() {
        assertEquals(saccade("train", "--help"), saccade("help", "train"));
        assertEquals(saccade("--help"), saccade("help"));
        assertTrue(saccade().err().contains("Start with:"), "what there is");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--version", "train --version", "bench ops -V"})
    void everyCommandPrintsVersion(String line) throws IOException {
        String version = Version.saccade();
        assertTrue(Files.readString(Path.of("..", "pom.xml")).contains("<version>" + version));
        CommandResult ended = saccade((Object[]) line.split(" "));
        assertEquals(new CommandResult(0, "saccade " + version + "\n", ""), ended);
    }

    @Test
    void demoDoesNotReplaceOtherScenes() throws IOException {
        Path scenes = Files.createDirectories(folder.resolve("shown-scenes"));
        CommandResult ended = saccade("demo", "--out", folder.resolve("shown"));
        assertEquals(2, ended.code());
        assertTrue(ended.err().contains("has the scenes of another demo"), ended.err());
        CommandResult run = saccade("demo", "--out", folder.resolve("runs/a"));
        assertTrue(run.err().contains("runs/a: not empty"), run.err());
        assertFalse(Files.exists(folder.resolve("runs/a-scenes")), "rendered before the refusal");
        Files.delete(scenes);
    }

    @Test
    void checkLogCountsImagesWithoutPercentage() {
        CommandResult ended = saccade("check", RECIPE, "--data", folder.resolve("other"));
        assertEquals("", ended.err(), "nothing to count");
        assertTrue(ended.out().contains("  1 error, 0 warnings\n"), ended.out());
    }
}

package dev.saccade.cli;

import static dev.saccade.cli.Ended.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;

import dev.saccade.cli.demo.SceneDataset;
import dev.saccade.cli.demo.SceneRenderer;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.ImageWriter;
import dev.saccade.models.DetectionModel;
import dev.saccade.models.checkpoint.Checkpoint;
import dev.saccade.models.checkpoint.Checkpoints;
import dev.saccade.models.config.ConfigBinder;
import dev.saccade.models.config.ConfigFile;
import dev.saccade.train.config.RunConfig;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import javax.tools.ToolProvider;

/** Does what {@code FINE_TUNING.md} says, with a narrow model and small photographs. */
class FineTuningTest {

    private static final Path PAGE = Path.of("..", "FINE_TUNING.md");

    /** The path of a file in backticks, then the file. */
    private static final Pattern FILE =
            Pattern.compile(
                    "^`([^`\n]+)`\n\n```\\w*\n(.*?)^```", Pattern.DOTALL | Pattern.MULTILINE);

    /** What is printed: a block without a language. */
    private static final Pattern OUTPUT =
            Pattern.compile("\n\n```\n(.*?)^```", Pattern.DOTALL | Pattern.MULTILINE);

    private static final Pattern COMMANDS =
            Pattern.compile("^```sh\n(.*?)^```", Pattern.DOTALL | Pattern.MULTILINE);

    private static final Pattern WORD = Pattern.compile("'([^']*)'|(\\S+)");

    private static final List<String> COMMANDS_OF_A_CONFIG =
            List.of("config", "check", "browse", "train");

    private static final List<String> SMALL =
            List.of(
                    "model.backbone.stem_channels=4",
                    "model.backbone.base_channels=4",
                    "model.neck.out_channels=8",
                    "model.head.rpn_head.feat_channels=8",
                    "model.head.bbox_head.fc_out_channels=16",
                    "model.head.mask_head.conv_out_channels=8",
                    "data.train_transforms=[{type: normalize}, {type: pad}]",
                    "data.val_transforms=[{type: normalize}, {type: pad}]",
                    "epochs=2");

    @TempDir Path folder;

    private String page;

    @BeforeEach
    void prepare() throws IOException {
        page = Files.readString(PAGE);
        Files.createSymbolicLink(folder.resolve("configs"), Path.of("..", "configs").toRealPath());
        SceneRenderer renderer = new SceneRenderer(1, new Size(64, 96));
        SceneDataset.write(folder.resolve("mine/photos"), renderer, 12, 4, n -> {});
        Files.copy(
                folder.resolve("mine/photos/images/scene_0001.jpg"), folder.resolve("photo.jpg"));
        for (MatchResult file : FILE.matcher(page).results().toList()) {
            Files.writeString(folder.resolve(file.group(1)), file.group(2));
        }
    }

    @Test
    void thePageLeadsToAProgramThatFindsThings() throws Exception {
        writeDetectorOfCoco(folder.resolve("mine/mask_rcnn_r50_fpn_1x_coco.pth"));
        StringBuilder printed = new StringBuilder();
        for (MatchResult block : COMMANDS.matcher(page).results().toList()) {
            for (String line : block.group(1).lines().toList()) {
                run(line)
                        .lines()
                        .filter(out -> !out.isBlank())
                        .forEach(out -> printed.append(out.stripTrailing()).append('\n'));
            }
        }
        List<MatchResult> outputs = OUTPUT.matcher(page).results().toList();
        assertEquals(2, outputs.size(), "outputs on the page");
        for (MatchResult output : outputs) {
            assertTrue(printed.toString().contains(output.group(1)), printed.toString());
        }
        for (String file : List.of("runs/things/report.html", "found/photo.jpg", "mine/seen")) {
            assertTrue(Files.exists(folder.resolve(file)), file);
        }
    }

    @Test
    void theExampleIsRightAndTheMistakesAreFound() throws IOException {
        String right = Files.readString(folder.resolve("mine/photos/example.json"));
        Mat desk = new Mat(480, 640, CvType.CV_8UC3, new Scalar(90, 90, 90));
        ImageWriter.write(desk, folder.resolve("mine/photos/images/desk.jpg"));
        desk.release();

        assertEquals(
                "  0 errors, 0 warnings",
                checked(right).strip().lines().skip(3).findFirst().orElse(""));
        for (String wrong :
                List.of(
                        right.replace("[400, 300, 60, 50]", "[400, 300, 460, 350]"),
                        right.replace(
                                "\"width\": 640, \"height\": 480",
                                "\"width\": 1280, \"height\": 960"),
                        right.replaceFirst("\"segmentation\".*", "\"segmentation\": []"))) {
            String found = checked(wrong);
            long told =
                    Pattern.compile("(?:: |\n  )`([^`\n]+)`\n")
                            .matcher(page)
                            .results()
                            .filter(quote -> found.contains(quote.group(1)))
                            .count();
            assertEquals(1, told, found);
        }
    }

    private String checked(String annotations) throws IOException {
        Files.writeString(folder.resolve("mine/photos/example.json"), annotations);
        return saccade(
                        "check",
                        folder.resolve("mine/things.yaml"),
                        "--data",
                        folder.resolve("mine/photos"),
                        "--set",
                        "data.train.annotations=example.json")
                .out();
    }

    /** Writes what mmdetection's model zoo has, but narrow and with weights that know nothing. */
    private void writeDetectorOfCoco(Path file) {
        RunConfig config =
                ConfigBinder.bind(
                        ConfigFile.load(folder.resolve("mine/things.yaml"), SMALL),
                        RunConfig.class);
        List<String> classes = IntStream.range(0, 80).mapToObj(i -> "class " + i).toList();
        try (NDManager manager = NDManager.newBaseManager()) {
            DetectionModel detector = new DetectionModel(config.model(), classes);
            detector.initialize(manager, 5);
            Checkpoints.save(file, Checkpoint.of(detector, Map.of()));
        }
    }

    /** Runs a line of the page and returns all that it printed. */
    private String run(String line) throws Exception {
        List<String> words =
                WORD.matcher(line)
                        .results()
                        .map(word -> word.group(1) == null ? word.group(2) : word.group(1))
                        .toList();
        List<String> arguments = words.subList(1, words.size());
        return switch (words.get(0)) {
            case "./saccade" -> command(arguments);
            case "javac" -> compile(arguments);
            case "java" -> program(arguments);
            default -> throw new AssertionError("no command: " + line);
        };
    }

    private String command(List<String> line) {
        List<String> arguments = new ArrayList<>(line.stream().map(this::here).toList());
        String name = arguments.get(0);
        if (COMMANDS_OF_A_CONFIG.contains(name)) {
            SMALL.forEach(setting -> arguments.addAll(List.of("--set", setting)));
            arguments.addAll(List.of("--data", here("mine/photos")));
        }
        if (name.equals("train") && !arguments.contains("--out")) {
            arguments.addAll(List.of("--out", here("runs/things")));
        }
        if (name.equals("predict")) {
            arguments.addAll(List.of("--score", "0.05"));
        }
        Ended ended = saccade(arguments.toArray());
        assertEquals(0, ended.code(), line + ": " + ended.err());
        return ended.out() + ended.err();
    }

    private String compile(List<String> line) {
        List<String> arguments = new ArrayList<>(onOurClassPath(line));
        arguments.addAll(List.of("-Xlint:all", "-Werror", "-proc:none"));
        int code =
                ToolProvider.getSystemJavaCompiler()
                        .run(null, null, null, arguments.toArray(String[]::new));
        assertEquals(0, code, "the program of the page does not compile");
        return "";
    }

    /** Runs the program with a least score that a detector which has learned little reaches. */
    private String program(List<String> line) throws Exception {
        List<String> arguments = onOurClassPath(line);
        assertEquals("0.5", arguments.get(5));
        String[] args = {arguments.get(3), arguments.get(4), "0.05"};
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream usual = System.out;
        URL mine = folder.resolve("mine").toUri().toURL();
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {mine}, getClass().getClassLoader())) {
            System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
            loader.loadClass(arguments.get(2))
                    .getMethod("main", String[].class)
                    .invoke(null, (Object) args);
        } finally {
            System.setOut(usual);
        }
        String printed = bytes.toString(StandardCharsets.UTF_8);
        String object =
                "(button|coin|key|leaf) 0\\.\\d\\d  left \\d+ top \\d+ width \\d+ height \\d+"
                        + "  mask \\d+ pixels";
        assertTrue(printed.lines().count() > 0, "nothing is found");
        assertTrue(printed.lines().allMatch(found -> found.matches(object)), printed);
        return printed;
    }

    /** Takes the class path of this test for that of the page, which {@code ./saccade} builds. */
    private List<String> onOurClassPath(List<String> line) {
        assertEquals("-cp", line.get(0));
        return Stream.concat(
                        Stream.of("-cp", System.getProperty("java.class.path")),
                        line.subList(2, line.size()).stream().map(this::here))
                .toList();
    }

    /** Returns a word of a command, in the folder of the test if it is a path. */
    private String here(String word) {
        boolean path =
                word.contains("/") || Arrays.asList("mine", "found", "photo.jpg").contains(word);
        return path ? folder.resolve(word).toString() : word;
    }
}

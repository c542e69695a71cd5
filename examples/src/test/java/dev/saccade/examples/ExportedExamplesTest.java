package dev.saccade.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;

import com.google.common.base.Splitter;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.core.Libtorch;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.datasets.transforms.Pad;
import dev.saccade.datasets.transforms.Resize;
import dev.saccade.demo.SceneDataset;
import dev.saccade.demo.SceneRenderer;
import dev.saccade.export.ExportFormat;
import dev.saccade.export.ModelDescription;
import dev.saccade.export.ModelExport;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;
import dev.saccade.models.Model;
import dev.saccade.models.ModelConfig;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.ScoreThresholds;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Programs with exported models find the same objects as Saccade, in processes without Saccade. */
class ExportedExamplesTest {

    private static final String PARTS =
            """
            backbone: {type: resnet, depth: 18, stem_channels: 4, base_channels: 4}
            neck: {type: fpn, out_channels: 8}
            head: {type: retinanet, feat_channels: 8, stacked_convs: 1}
            """;

    private static final double MIN_SCORE = 0.35;

    /** Python interpreter; the test is skipped without onnxruntime. */
    private static final String PYTHON = System.getProperty("saccade.python", "python3");

    private static final String OWN_CLASSES = Path.of("target", "classes").toString();

    @TempDir static Path folder;
    private static Path photo;
    private static List<Line> expected;

    /** A printed object. */
    private record Line(String label, double score, double x1, double y1, double x2, double y2) {

        static Line of(DetectedObject object) {
            return new Line(
                    object.label(),
                    object.score(),
                    object.box().x1(),
                    object.box().y1(),
                    object.box().x2(),
                    object.box().y2());
        }

        static Line of(String line) {
            List<String> words = Splitter.on(' ').splitToList(line);
            List<Double> numbers = words.stream().skip(1).map(Double::valueOf).toList();
            return new Line(
                    words.get(0),
                    numbers.get(0),
                    numbers.get(1),
                    numbers.get(2),
                    numbers.get(3),
                    numbers.get(4));
        }

        boolean isLike(Line other) {
            return label.equals(other.label)
                    && Math.abs(score - other.score) < 0.02
                    && Math.abs(x1 - other.x1) < 1
                    && Math.abs(y1 - other.y1) < 1
                    && Math.abs(x2 - other.x2) < 1
                    && Math.abs(y2 - other.y2) < 1;
        }
    }

    @BeforeAll
    static void export() throws IOException {
        assumeTrue(Kernels.status().loaded(), "models are recorded by the fused operators");
        SceneDataset.write(folder, new SceneRenderer(1, new Size(150, 200)), 1, 1, n -> {});
        photo = folder.resolve("images").resolve("scene_0001.jpg");
        try (Detector detector = Detector.load(checkpoint(), Device.cpu())) {
            expected = detector.detect(photo, MIN_SCORE).stream().map(Line::of).toList();
            ModelExport export = ModelExport.of(detector.model()).record();
            for (ExportFormat format : ExportFormat.values()) {
                Path exported = Files.createDirectory(folder.resolve(format.name()));
                export.write(format, exported.resolve("model" + format.suffix()));
                ModelDescription.of(
                                export,
                                format,
                                detector.spec(),
                                Optional.of(ScoreThresholds.of(MIN_SCORE)),
                                List.of(),
                                Optional.empty())
                        .write(exported.resolve("model.json"));
            }
        }
        assertFalse(expected.isEmpty(), "nothing is found, which proves nothing");
    }

    private static Path checkpoint() {
        Resize resize =
                new Resize(List.of(List.of(160, 112)), Resize.Mode.VALUE, true, List.of(), 1);
        ModelSpec spec =
                new ModelSpec(
                        Configs.bind(ConfigFile.parse(PARTS, "parts"), ModelConfig.class),
                        List.of(resize, Configs.of(Normalize.class), Configs.of(Pad.class)),
                        List.of("a", "b"));
        Path file = folder.resolve("detector.safetensors");
        try (NDManager manager = Libtorch.newManager(Device.cpu())) {
            Model<?> model = spec.model().build(spec.classes());
            model.initialize(manager, 3);
            // Scores of an untrained model are too similar to order objects.
            model.namedParameters()
                    .forEach(
                            (name, parameter) -> {
                                if (name.endsWith("retina_cls.weight")) {
                                    parameter.getArray().muli(300);
                                }
                            });
            Checkpoints.save(file, Checkpoint.of(model, spec.toMetadata()));
        }
        return file;
    }

    @Test
    void onnxRuntimeFindsSameObjects() throws Exception {
        assertFinds(run(java(OnnxObjects.class, "onnxruntime-"), ExportFormat.ONNX));
    }

    @Test
    void djlFindsSameObjects() throws Exception {
        String[] jars = {
            "api-", "pytorch-", "gson-", "jna-", "commons-compress-", "commons-io-", "slf4j-"
        };
        assertFinds(run(java(DjlObjects.class, jars), ExportFormat.TORCHSCRIPT));
    }

    @Test
    void pythonFindsSameObjects() throws Exception {
        Process modules =
                new ProcessBuilder(PYTHON, "-c", "import cv2, numpy, onnxruntime")
                        .redirectErrorStream(true)
                        .start();
        String output = text(modules);
        assumeTrue(modules.waitFor() == 0, PYTHON + ", see -Dsaccade.python: " + output);
        List<String> command =
                List.of(PYTHON, Path.of("src", "main", "python", "onnx_objects.py").toString());
        assertFinds(run(command, ExportFormat.ONNX));
    }

    /** Returns a command with the classes of this module, Jackson and some jars. */
    private static List<String> java(Class<?> program, String... jars) {
        List<String> starts = Stream.concat(Stream.of("jackson-"), Stream.of(jars)).toList();
        String classPath =
                Splitter.on(File.pathSeparatorChar)
                        .splitToStream(System.getProperty("java.class.path"))
                        .filter(entry -> isIn(Path.of(entry), starts))
                        .collect(Collectors.joining(File.pathSeparator));
        assertTrue(classPath.contains("jackson-databind"), classPath);
        assertFalse(classPath.contains("saccade-core"), classPath);
        assertEquals(program == DjlObjects.class, classPath.contains("djl"), classPath);
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Dai.djl.offline=true",
                "-cp",
                classPath,
                program.getName());
    }

    private static boolean isIn(Path entry, List<String> starts) {
        String name = entry.getFileName().toString();
        boolean isJar = name.endsWith(".jar");
        return isJar
                ? starts.stream().anyMatch(name::startsWith)
                        && !name.startsWith("jackson-dataformat")
                : entry.equals(Path.of(OWN_CLASSES).toAbsolutePath());
    }

    private static List<Line> run(List<String> program, ExportFormat format) throws Exception {
        List<String> command = new ArrayList<>(program);
        command.add(folder.resolve(format.name()).toString());
        command.add(photo.toString());
        command.add(Double.toString(MIN_SCORE));
        Path errors = folder.resolve("errors.txt");
        Process process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
        String printed = text(process);
        assertEquals(0, process.waitFor(), () -> printed + errors(errors));
        return printed.lines().map(Line::of).toList();
    }

    private static String text(Process process) throws IOException {
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    private static String errors(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.getMessage();
        }
    }

    private static void assertFinds(List<Line> found) {
        assertEquals(expected.size(), found.size(), () -> found + " for " + expected);
        for (Line object : expected) {
            assertTrue(found.stream().anyMatch(object::isLike), () -> object + " in " + found);
        }
    }

    @Test
    void componentsAreFound() {
        IOException format =
                assertThrows(
                        IOException.class,
                        () ->
                                new ExportedDetector(
                                        folder.resolve(ExportFormat.ONNX.name()), "torchscript"));
        assertTrue(
                format.getMessage().endsWith("format: got onnx, expected torchscript"),
                format.getMessage());
    }
}

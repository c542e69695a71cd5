package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.transforms.Resize;
import dev.saccade.demo.SceneDataset;
import dev.saccade.demo.SceneRenderer;
import dev.saccade.testsupport.TinyModel;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Compiles and runs the programs of {@code library.md} with random weights. */
class LibraryPageTest {

    private static final Path PAGE = Path.of("..", "docs", "library.md");

    private static final Pattern PROGRAM =
            Pattern.compile("^```java\n(.*?)^```", Pattern.DOTALL | Pattern.MULTILINE);

    private static final Set<String> OF_JAVA =
            Set.of(
                    "import java.awt.image.BufferedImage;",
                    "import java.nio.charset.StandardCharsets;",
                    "import java.nio.file.Files;",
                    "import java.nio.file.Path;",
                    "import java.util.List;",
                    "import javax.imageio.ImageIO;");

    private static final String CONFIG =
            """
            base: [../configs/_base_/runtime.yaml, ../configs/_base_/datasets/coco_detection.yaml]
            model:
              backbone: {type: resnet, depth: 18, stem_channels: 4, base_channels: 4}
              neck: {type: fpn, out_channels: 8}
              head: {type: retinanet, feat_channels: 8, stacked_convs: 1}
            data:
              root: FOLDER/scenes
              train: {annotations: annotations_train.json, images: images}
              val: {annotations: annotations_val.json, images: images}
              train_transforms: [{type: normalize}, {type: pad}]
              val_transforms: [{type: normalize}, {type: pad}]
            """;

    @TempDir Path folder;

    @Test
    void programsRun() throws Exception {
        PageRun page = PageRun.in(folder, "library.md");
        SceneRenderer renderer = new SceneRenderer(1, new Size(64, 96));
        SceneDataset.write(folder.resolve("scenes"), renderer, 4, 4, n -> {});
        Files.copy(folder.resolve("scenes/images/scene_0001.jpg"), folder.resolve("photo.jpg"));
        Path mine = Files.createDirectories(folder.resolve("mine"));
        Files.writeString(mine.resolve("tools.yaml"), CONFIG.replace("FOLDER", "" + folder));
        Resize resize = new Resize(List.of(List.of(96, 64)), Resize.Mode.VALUE, true, List.of(), 1);
        List<String> classes = List.of("a", "b", "c");
        TinyModel.MASK_RCNN.save(folder.resolve("detector.safetensors"), classes, resize);
        TinyModel.SEMANTIC_FPN.save(folder.resolve("segmenter.safetensors"), classes, resize);
        Files.writeString(mine.resolve("Programs.java"), programs());

        page.run(
                List.of(
                        "javac",
                        "-cp",
                        PageRun.CLASS_PATH,
                        "-d",
                        "" + mine,
                        mine + "/Programs.java"));
        String printed =
                page.run(List.of("java", "-cp", PageRun.CLASS_PATH + ":" + mine, "Programs"));

        assertTrue(
                Pattern.compile("^[abc] 0\\.\\d+ Box\\[", Pattern.MULTILINE)
                        .matcher(printed)
                        .find(),
                printed);
        assertTrue(
                Pattern.compile("^[abc]: \\d+ pixels, ", Pattern.MULTILINE).matcher(printed).find(),
                printed);
        assertTrue(printed.contains("FINISHED ["), printed);
        assertEquals(1, page.outputs().size(), "outputs on the page");
        assertTrue(printed.contains(page.outputs().get(0)), printed);
    }

    @Test
    void dependencyMatchesTheBuild() throws IOException {
        Pattern coordinates =
                Pattern.compile(
                        "<groupId>dev.saccade</groupId>\\s*<artifactId>saccade(-models)?</artifactId>"
                                + "\\s*<version>([^<]+)</version>");
        List<String> versions = new ArrayList<>();
        for (Path file : List.of(PAGE, Path.of("..", "pom.xml"))) {
            Matcher found = coordinates.matcher(Files.readString(file));
            assertTrue(found.find(), file.toString());
            versions.add(found.group(2));
        }
        assertEquals(versions.get(1), versions.get(0));
    }

    /** Returns a class with a method per program; those that load no detector share one. */
    private String programs() throws IOException {
        Set<String> imports = new TreeSet<>(OF_JAVA);
        List<String> calls = new ArrayList<>();
        StringBuilder methods = new StringBuilder();
        for (MatchResult block : PROGRAM.matcher(Files.readString(PAGE)).results().toList()) {
            String program = block.group(1);
            if (program.contains("org.apache.spark")) {
                continue; // compiled in its own module
            }
            program.lines().filter(line -> line.startsWith("import ")).forEach(imports::add);
            String name = "program" + calls.size();
            calls.add(name + "();");
            methods.append("static void " + name + "() throws Exception {\n")
                    .append(program.replaceAll("(?m)^import .*\n", ""))
                    .append("}\n");
        }
        String source =
                String.join("\n", imports)
                        + "\n"
                        + "public final class Programs {\n"
                        + "static Detector detector ="
                        + " Detector.load(Path.of(\"detector.safetensors\"));\n"
                        + "public static void main(String[] args) throws Exception {\n"
                        + String.join("\n", calls)
                        + "\ndetector.close();\n}\n"
                        + methods
                        + "}\n";
        return source.replace("Path.of(\"", "Path.of(\"" + folder + "/");
    }
}

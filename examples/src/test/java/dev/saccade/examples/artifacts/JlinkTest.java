package dev.saccade.examples.artifacts;

import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.pytorch.engine.PtEngine;

import dev.saccade.testsupport.DocPage;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opencv.core.Mat;

import java.io.File;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.spi.ToolProvider;

/** Links the runtime of {@code building.md} and runs its program there. */
class JlinkTest {

    @TempDir Path project;

    @Test
    void runtimeRunsTheProgram() throws Exception {
        DocPage page = DocPage.of("building.md");
        page.section("Build with Maven").writeTo(project);
        SmallDetector detector = SmallDetector.in(project);
        String classPath = System.getProperty("java.class.path");
        Built.run(
                Built.command(
                        project,
                        tool("javac"),
                        "-proc:none",
                        "-cp",
                        classPath,
                        "-d",
                        "classes",
                        "src/main/java/org/example/Finder.java"));
        String[] jlink = page.command("jlink --add-modules").split(" ");
        jlink[0] = tool("jlink");
        Built.run(Built.command(project, jlink));
        String java = project.resolve("runtime/bin/java").toString();
        String modules = Built.run(Built.command(project, java, "--list-modules"));
        assertTrue(modules.contains("java.desktop") && !modules.contains("jdk.jfr"), modules);
        detector.assertFound(
                Built.run(
                        Built.command(
                                project,
                                java,
                                "-cp",
                                "classes" + File.pathSeparator + classPath,
                                "org.example.Finder",
                                "detector.safetensors",
                                "photo.jpg")));
    }

    @Test
    void automaticModulesCannotBeLinked() throws Exception {
        Path djl = jar(NDArray.class);
        for (Path each : List.of(djl, jar(PtEngine.class), jar(Mat.class))) {
            Set<ModuleReference> modules = ModuleFinder.of(each).findAll();
            assertTrue(modules.iterator().next().descriptor().isAutomatic(), each.toString());
        }
        StringWriter printed = new StringWriter();
        PrintWriter out = new PrintWriter(printed);
        int code =
                ToolProvider.findFirst("jlink")
                        .orElseThrow()
                        .run(
                                out,
                                out,
                                "--module-path",
                                djl.toString(),
                                "--add-modules",
                                "ai.djl.api",
                                "--output",
                                project.resolve("all").toString());
        assertNotEquals(0, code);
        String error = DocPage.of("building.md").blocks("text", "Error: automatic").get(0).strip();
        assertTrue(printed.toString().startsWith(error), printed.toString());
        assertTrue(Files.notExists(project.resolve("all/bin/java")));
    }

    private static String tool(String name) {
        return Path.of(System.getProperty("java.home"), "bin", name).toString();
    }

    private static Path jar(Class<?> type) throws URISyntaxException {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }
}

package dev.saccade.examples.artifacts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.pytorch.engine.PtEngine;

import com.google.common.base.Splitter;

import dev.saccade.core.ops.script.Kernels;
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
import java.util.stream.Collectors;

/** Links the runtimes of {@code building.md} and runs its program there. */
class JlinkTest {

    /** Reads resources of other modules. */
    private static final String CHECK =
            """
            package org.example;

            import dev.saccade.config.ConfigFile;
            import dev.saccade.core.ops.script.Kernels;

            final class Check {
                public static void main(String[] arguments) {
                    System.out.println(Check.class.getModule());
                    System.out.println(ConfigFile.packaged("_base_/runtime.yaml").entries().keySet());
                    System.out.println(Kernels.status());
                }
            }
            """;

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

    /** The modules that are not linked, such as DJL, are on the module path. */
    @Test
    void moduleRunsWithLinkedLibraries() throws Exception {
        DocPage page = DocPage.of("building.md");
        page.section("Build with Maven").writeTo(project);
        page.section("Use Java modules").writeTo(project);
        Path sources = project.resolve("src/main/java");
        Files.writeString(sources.resolve("org/example/Check.java"), CHECK);
        // DJL, an automatic module, does not declare these.
        ModulePath modules =
                ModulePath.of("dev.saccade.models", "com.google.gson", "micrometer.commons");
        Built.run(
                Built.command(
                        project,
                        tool("javac"),
                        "-Xlint:all,-path",
                        "-Werror",
                        "-p",
                        modules.path(),
                        "-d",
                        "classes",
                        sources.resolve("module-info.java").toString(),
                        sources.resolve("org/example/Finder.java").toString(),
                        sources.resolve("org/example/Check.java").toString()));

        String[] jlink = page.command("jlink --module-path").split(" ");
        jlink[0] = tool("jlink");
        jlink[2] = modules.path();
        Built.run(Built.command(project, jlink));
        String linked = project.resolve("linked/bin/java").toString();
        assertEquals(
                modules.linkable(),
                Built.run(Built.command(project, linked, "--list-modules"))
                        .lines()
                        .map(line -> Splitter.on('@').split(line).iterator().next())
                        .filter(name -> !name.startsWith("java.") && !name.startsWith("jdk."))
                        .collect(Collectors.toSet()));
        SmallDetector detector = SmallDetector.in(project);
        detector.assertFound(module(linked, modules.path(), "Finder"));
        String checked = module(linked, modules.path(), "Check");
        assertTrue(checked.startsWith("module org.example.finder"), checked);
        assertTrue(checked.contains("log_interval"), checked);
        assertTrue(checked.contains(Kernels.status().toString()), checked);
    }

    private String module(String java, String path, String main) throws Exception {
        return Built.run(
                Built.command(
                        project,
                        java,
                        "-p",
                        "classes" + File.pathSeparator + path,
                        "--add-modules",
                        "com.google.gson,micrometer.commons",
                        "-cp",
                        jars("pytorch-"),
                        "-m",
                        "org.example.finder/org.example." + main,
                        "detector.safetensors",
                        "photo.jpg"));
    }

    /** Returns jars on the class path whose names have a prefix. */
    private static String jars(String prefix) {
        return Splitter.on(File.pathSeparatorChar)
                .splitToStream(System.getProperty("java.class.path"))
                .filter(each -> Path.of(each).getFileName().toString().startsWith(prefix))
                .filter(each -> !each.contains("pytorch-engine"))
                .collect(Collectors.joining(File.pathSeparator));
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

package dev.saccade.models;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.pytorch.jni.LibUtils;
import ai.djl.util.Platform;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.config.Configs;
import dev.saccade.core.Libtorch;
import dev.saccade.core.NativePlatform;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.image.OpenCv;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Processes without native libraries, with other ones, or without a place to unpack them. */
class MissingNativesTest {

    private static final String PLATFORM = NativePlatform.name();

    private static final String MODEL =
            """
            backbone: {type: resnet, depth: 18}
            head: {type: upernet}
            """;

    @TempDir Path cache;

    /** Entries before the class path of a process. */
    private final List<String> instead = new ArrayList<>();

    /** Environment variables of a process. */
    private final Map<String, String> variables = new HashMap<>();

    /** Prints the messages for a config, twice, and for each library. */
    public static void main(String[] args) {
        Map<String, Runnable> entryPoints =
                Map.of(
                        "config",
                        () -> {
                            ConfigNode.Mapping config = ConfigFile.parse(MODEL, "test");
                            Configs.bind(config, ModelConfig.class);
                        },
                        "libtorch",
                        Libtorch::engine,
                        "opencv",
                        OpenCv::load);
        for (String entryPoint : args) {
            try {
                entryPoints.get(entryPoint).run();
                System.out.println(entryPoint + " works");
            } catch (SaccadeException e) {
                System.out.println(
                        String.join(" ", entryPoint, e.kind().toString(), e.getMessage())
                                + (e.getCause() == null ? " without a cause" : ""));
            }
        }
    }

    private String output(String lacking, String... entryPoints)
            throws IOException, InterruptedException {
        String classPath =
                Stream.concat(
                                instead.stream(),
                                Arrays.stream(
                                        System.getProperty("java.class.path")
                                                .split(File.pathSeparator)))
                        .filter(entry -> lacking.isEmpty() || !entry.contains(lacking))
                        .collect(Collectors.joining(File.pathSeparator));
        ProcessBuilder process =
                new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        classPath,
                        "-Dai.djl.offline=true",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
                        MissingNativesTest.class.getName());
        process.command().addAll(Arrays.asList(entryPoints));
        process.environment().put("DJL_CACHE_DIR", cache.toString());
        process.environment().putAll(variables);
        Process running = process.redirectErrorStream(true).start();
        String output = new String(running.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, running.waitFor(), output);
        return output;
    }

    private static void assertPrints(String output, String line) {
        assertTrue(output.lines().anyMatch(each -> each.startsWith(line)), output);
        assertTrue(!output.contains("without a cause"), output);
    }

    @Test
    void namesMissingArtifactsEveryTime() throws IOException, InterruptedException {
        String natives = output("pytorch-native-cpu", "config", "config", "libtorch");
        assertEquals(3, natives.lines().filter(line -> line.contains(" USER ")).count(), natives);
        assertEquals(
                3,
                natives.lines()
                        .filter(line -> line.contains("the class path lacks"))
                        .filter(
                                line ->
                                        line.contains(
                                                "pytorch-native-cpu:2.7.1:" + PLATFORM + " ("))
                        .count(),
                natives);
        assertPrints(
                output("pytorch-jni", "config"),
                String.format(
                                Locale.ROOT,
                                "config USER libtorch cannot be loaded on %s: the class path lacks",
                                PLATFORM)
                        + " ai.djl.pytorch:pytorch-jni:2.7.1-0.36.0 (a shaded jar must");
    }

    @Test
    void reportsNativesOfAnotherPlatform() throws IOException, InterruptedException {
        Path natives = Files.createDirectories(cache.resolve("other/native/lib"));
        Files.writeString(
                natives.resolve("pytorch.properties"),
                "version=2.7.1\nflavor=cpu\nclassifier=plan9-mips\nlibraries=libtorch.so\n");
        instead.add(cache.resolve("other").toString());
        assertPrints(
                output("pytorch-native-cpu", "libtorch"),
                String.format(
                                Locale.ROOT,
                                "libtorch USER libtorch cannot be loaded on %s: the class path lacks",
                                PLATFORM)
                        + String.format(
                                Locale.ROOT,
                                " ai.djl.pytorch:pytorch-native-cpu:2.7.1:%s, found plan9-mips (",
                                PLATFORM));
    }

    @Test
    void reportsAnUnsupportedPlatform() throws IOException, InterruptedException {
        variables.put("JAVA_TOOL_OPTIONS", "-Dos.arch=mips");
        assertPrints(
                output("", "libtorch"),
                "libtorch USER libtorch cannot be loaded on linux-mips: DJL supports only"
                        + " linux-x86_64, linux-aarch64, osx-aarch64, win-x86_64");
    }

    @Test
    void reportsMissingOpenCv() throws IOException, InterruptedException {
        assertPrints(output("openpnp", "opencv"), "opencv USER OpenCV cannot be loaded on");
    }

    @Test
    void reportsAnUnwritableCache() throws IOException, InterruptedException {
        cache = Files.createFile(cache.resolve("file"));
        String output = output("", "opencv", "libtorch", "opencv");
        assertPrints(
                output,
                String.format(
                        Locale.ROOT,
                        "opencv IO %s: native libraries cannot be unpacked to this folder",
                        cache.resolve("saccade")));
        assertPrints(
                output, "libtorch USER libtorch cannot be loaded on " + PLATFORM + ": " + cache);
        assertEquals(
                3,
                output.lines().filter(line -> line.contains("set DJL_CACHE_DIR")).count(),
                output);
    }

    @Test
    void rejectsATruncatedLibrary() throws IOException, InterruptedException {
        Platform platform = Platform.detectPlatform("pytorch");
        String unpacked =
                String.join(
                        "-", platform.getVersion(), platform.getFlavor(), platform.getClassifier());
        Path folder = Files.createDirectories(cache.resolve("pytorch").resolve(unpacked));
        for (String library : platform.getLibraries()) {
            Files.writeString(folder.resolve(library), "\177ELF");
        }
        String output = output("", "libtorch");
        assertTrue(output.contains(".so: damaged, expected "), output);
        assertTrue(output.contains("delete " + folder), output);
    }

    @Test
    void usesAnInstalledLibtorch() throws IOException, InterruptedException {
        Libtorch.engine();
        variables.put("SACCADE_TORCH", LibUtils.getLibtorchPath());
        assertPrints(output("pytorch-native-cpu", "libtorch"), "libtorch works");
        try (Stream<Path> files = Files.walk(cache)) {
            assertEquals(
                    List.of(),
                    files.filter(file -> file.getFileName().toString().startsWith("libtorch"))
                            .toList(),
                    "nothing of libtorch is unpacked");
        }
    }

    @Test
    void rejectsAFolderWithoutLibtorch() throws IOException, InterruptedException {
        variables.put("SACCADE_TORCH", cache.toString());
        String output = output("", "libtorch");
        String expected = "libtorch USER SACCADE_TORCH=" + cache + ": libtorch.so not found";
        assertTrue(output.startsWith(expected), output);
        variables.put("PYTORCH_LIBRARY_PATH", "/elsewhere");
        output = output("", "libtorch");
        expected =
                "libtorch USER SACCADE_TORCH is set, but DJL's PYTORCH_LIBRARY_PATH is also set,"
                        + " to /elsewhere; unset one of them";
        assertTrue(output.startsWith(expected), output);
    }

    @Test
    void namesADamagedLibtorch() throws IOException, InterruptedException {
        Path torch = Files.createDirectories(cache.resolve("2.7.1-1-cpu-" + PLATFORM));
        Files.writeString(torch.resolve("libtorch.so"), "no library");
        variables.put("SACCADE_TORCH", torch.toString());
        assertPrints(
                output("", "libtorch"),
                "libtorch USER SACCADE_TORCH=" + torch + ": libtorch cannot be loaded: ");
    }
}

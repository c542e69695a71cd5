package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.tools.ToolProvider;

/** Compiles the Java of all pages but the files that they name, which other tests run. */
class SnippetsTest {

    /** A block, and the line above it if that is the name of a file. */
    private static final Pattern BLOCK =
            Pattern.compile(
                    "(^`[^`\n]+`\n\n)?^```java\n(.*?)^```", Pattern.DOTALL | Pattern.MULTILINE);

    /** What snippets take for granted. */
    private static final String GIVEN =
            """
            import ai.djl.modality.cv.output.*;
            import ai.djl.ndarray.*;
            import ai.djl.repository.zoo.*;
            import java.awt.image.*;
            import java.nio.charset.*;
            import java.nio.file.*;
            import java.util.*;
            import javax.imageio.*;
            import org.opencv.core.Mat;
            import org.opencv.imgcodecs.*;
            final class Snippet {
            static dev.saccade.models.Detector detector;
            static dev.saccade.models.Model<?> model;
            static dev.saccade.datasets.Dataset dataset;
            static NDManager manager;
            static NDArray x;
            static String yaml;
            static long seed;
            static final class Swish {}
            """;

    @TempDir private Path folder;

    @Test
    void snippetsCompile() throws IOException {
        List<String> types = types();
        List<String> arguments = new ArrayList<>(List.of("-proc:none", "-d", folder + "/classes"));
        arguments.addAll(List.of("-cp", System.getProperty("java.class.path")));
        for (Path page : ReadmeTest.pages()) {
            for (MatchResult block : BLOCK.matcher(Files.readString(page)).results().toList()) {
                if (block.group(1) == null && !block.group(2).contains("Spark")) {
                    String name = page.toString().replaceAll("\\W", "") + arguments.size();
                    String source = source(block.group(2), types);
                    Path file = folder.resolve(name + ".java");
                    arguments.add(Files.writeString(file, "package " + name + source).toString());
                }
            }
        }
        assertTrue(arguments.size() > 20, arguments.toString());
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        String[] words = arguments.toArray(String[]::new);
        int code = ToolProvider.getSystemJavaCompiler().run(null, printed, printed, words);
        assertEquals(0, code, printed.toString(UTF_8));
    }

    /** Returns a class in which code that declares members stands as it is, other in a method. */
    private static String source(String code, List<String> types) {
        Set<String> words = new HashSet<>(List.of(code.split("\\W+")));
        List<String> lines = code.lines().toList();
        Predicate<String> isImport = line -> line.startsWith("import ");
        String own = lines.stream().filter(isImport).collect(joining());
        String body = lines.stream().filter(isImport.negate()).collect(joining("\n"));
        String used =
                types.stream()
                        .filter(type -> words.contains(type.substring(type.lastIndexOf('.') + 1)))
                        .map(type -> "import " + type + ";")
                        .collect(joining());
        boolean members = body.startsWith("static ");
        String inside = members ? body : "void run() throws Exception {" + body + "\n}";
        return ";" + own + used + GIVEN + inside + "}";
    }

    /** Returns all public classes of the library. */
    private static List<String> types() throws IOException {
        Pattern source = Pattern.compile(".*/src/main/java/(dev/saccade/(?!cli/).*)\\.java");
        List<String> types = new ArrayList<>();
        try (Stream<Path> files = Files.walk(Path.of(".."), 12)) {
            for (Path file : files.toList()) {
                Matcher path = source.matcher(file.toString());
                if (path.matches() && Files.readString(file).contains("\npublic ")) {
                    types.add(path.group(1).replace('/', '.'));
                }
            }
        }
        return types;
    }
}

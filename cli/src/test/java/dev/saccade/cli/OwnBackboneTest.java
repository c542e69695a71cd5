package dev.saccade.cli;

import static dev.saccade.cli.Ended.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.cli.demo.SceneDataset;
import dev.saccade.cli.demo.SceneRenderer;
import dev.saccade.core.structures.Size;
import dev.saccade.models.checkpoint.Checkpoints;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.tools.ToolProvider;

/** Does what {@code OWN_BACKBONE.md} says, in a folder that has nothing but the configs. */
class OwnBackboneTest {

    private static final Path PAGE = Path.of("..", "backbones", "OWN_BACKBONE.md");

    /** The path of a file in backticks, then the file. */
    private static final Pattern FILE =
            Pattern.compile(
                    "^`([^`\n]+)`\n\n```\\w*\n(.*?)^```", Pattern.DOTALL | Pattern.MULTILINE);

    private static final Pattern COMMAND = Pattern.compile("^\\./saccade (.*)$", Pattern.MULTILINE);

    private static final String[] QUICK = {
        "--set", "epochs=1",
        "--set", "model.neck.out_channels=8",
        "--set", "model.head.feat_channels=8"
    };

    @TempDir Path folder;

    @Test
    void thePageLeadsToATrainedDetector() throws IOException {
        String page = Files.readString(PAGE);
        Files.createSymbolicLink(folder.resolve("configs"), Path.of("..", "configs").toRealPath());
        SceneDataset.write(
                folder.resolve("runs/demo-scenes"),
                new SceneRenderer(1, new Size(64, 96)),
                8,
                4,
                n -> {});
        for (MatchResult file : FILE.matcher(page).results().toList()) {
            Path path = folder.resolve(file.group(1));
            Files.createDirectories(path.getParent());
            Files.writeString(path, file.group(2));
        }
        Path mine = folder.resolve("mine");
        compile(mine.resolve("com/example/TinyNet.java"), mine);
        Ended listed;
        Ended trained;
        Thread thread = Thread.currentThread();
        ClassLoader usual = thread.getContextClassLoader();
        try (URLClassLoader loader = new URLClassLoader(new URL[] {mine.toUri().toURL()}, usual)) {
            thread.setContextClassLoader(loader);
            listed = command(page, "info");
            trained = command(page, "train", QUICK);
        } finally {
            thread.setContextClassLoader(usual);
        }
        assertTrue(listed.out().contains("\ntiny_net  "), listed.out() + listed.err());
        assertEquals(0, trained.code(), trained.err());
        Path best = folder.resolve("runs/tiny_net/checkpoints/best.safetensors");
        assertTrue(
                Checkpoints.open(best).tensors().containsKey("backbone.stage0.conv.weight"),
                "the detector has another backbone");
    }

    private static void compile(Path source, Path out) {
        int code =
                ToolProvider.getSystemJavaCompiler()
                        .run(
                                null,
                                null,
                                null,
                                "-cp",
                                System.getProperty("java.class.path"),
                                "-Xlint:all",
                                "-Werror",
                                "-proc:none",
                                "-d",
                                out.toString(),
                                source.toString());
        assertEquals(0, code, "the class of the page does not compile");
    }

    /** Runs the line of the page that has a subcommand, with more options. */
    private Ended command(String page, String name, String... more) {
        MatchResult line =
                COMMAND.matcher(page)
                        .results()
                        .filter(result -> result.group(1).startsWith(name))
                        .findFirst()
                        .orElseThrow();
        Stream<String> arguments =
                Stream.of(line.group(1).split(" "))
                        .map(word -> word.contains("/") ? folder.resolve(word).toString() : word);
        return saccade(Stream.concat(arguments, Stream.of(more)).toArray());
    }
}

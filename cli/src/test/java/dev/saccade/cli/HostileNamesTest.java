package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.core.structures.Size;
import dev.saccade.demo.SceneDataset;
import dev.saccade.demo.SceneRenderer;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Names with control characters, right-to-left text or line breaks cannot forge output. */
class HostileNamesTest {

    private static final String NAME =
            "x\u001b[2J\u009b1A\u202e\u2066\u200b\u2028\u0085\ufeff\nsaccade: forged\r\ty";

    private static final String JSON_NAME =
            "x\\u001b[2J\\u009b1A\\u202e\\u2066\\u200b\\u2028\\u0085\\ufeff\\nsaccade: forged\\r\\ty";

    /** Characters that must not be printed. */
    private static final Pattern HIDDEN =
            Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}&&[^\n\r\t]]");

    private static final Pattern FORGED = Pattern.compile("(?m)^saccade: forged|[\r\u0085\u2028]");

    private static final ObjectMapper JSON = new ObjectMapper();

    private static TinyRun tiny;

    @TempDir Path folder;

    @BeforeAll
    static void train(@TempDir Path shared) throws IOException {
        tiny = TinyRun.in(shared, JSON_NAME);
    }

    private static void assertHarmless(String text) {
        assertFalse(text.isBlank());
        assertFalse(HIDDEN.matcher(text).find(), text);
        assertFalse(FORGED.matcher(text).find(), text);
    }

    private static void assertHarmless(CommandResult ended) {
        assertHarmless(ended.out() + ended.err());
    }

    @Test
    void classesInTablesLogsAndReports() throws IOException {
        assertHarmless(tiny.trained());
        assertTrue(tiny.trained().out().contains(JSON_NAME), tiny.trained().out());
        assertHarmless(Files.readString(tiny.run().resolve("train.log")));
        assertHarmless(Files.readString(tiny.run().resolve("config.yaml")));
        String report = Files.readString(tiny.run().resolve("report.html"));
        assertFalse(HIDDEN.matcher(report).find());
        assertTrue(report.contains(JSON_NAME));
        for (CommandResult ended :
                List.of(
                        saccade("check", tiny.recipe(), "--data", tiny.scenes()),
                        saccade("eval", tiny.run()))) {
            assertEquals(0, ended.code(), ended.err());
            assertHarmless(ended);
            assertTrue(ended.out().contains(JSON_NAME), ended.out());
        }
    }

    @Test
    void classNamesInJsonAreUnchanged() throws IOException {
        CommandResult eval = saccade("eval", tiny.run(), "--json");
        assertEquals(0, eval.code(), eval.err());
        assertHarmless(eval);
        List<String> classes = new ArrayList<>();
        JSON.readTree(eval.out())
                .at("/confusion/classes")
                .forEach(name -> classes.add(name.asText()));
        assertEquals(List.of(NAME, "coin", "key", "leaf"), classes.subList(0, 4));
    }

    static Stream<List<Object>> mistakes() {
        Path file = Path.of(NAME);
        Path recipe = Path.of("..", "configs", "retinanet", "resnet18_fpn_demo.yaml");
        return Stream.of(
                List.of(NAME),
                List.of("--" + NAME),
                List.of("help", NAME),
                List.of("train", file),
                List.of("train", recipe, "--data", file),
                List.of("train", recipe, NAME),
                List.of("train", recipe, "--init-from", file),
                List.of("browse", recipe, "--data", file),
                List.of("config", recipe, "--set", "model." + NAME + "=1"),
                List.of("config", recipe, "--set", "{\"" + JSON_NAME + "\": 1}"),
                List.of("config", recipe, "--set", "model.backbone={\"" + JSON_NAME + "\": 1}"),
                List.of("config", recipe, "--set", "model.backbone.type=\"" + JSON_NAME + "\""),
                List.of("config", recipe, "--set", "epochs=\"" + JSON_NAME + "\""),
                List.of("info", recipe, "--size", NAME),
                List.of("info", recipe, "--classes", NAME),
                List.of("eval", file),
                List.of("predict", file, file),
                List.of("export", file, "--out", file),
                List.of("convert", file, file),
                List.of("convert", file, file, "--names", NAME));
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void argumentsInMessages(List<Object> arguments) {
        CommandResult ended = saccade(arguments.toArray());
        assertEquals(2, ended.code(), ended.err());
        assertHarmless(ended);
    }

    @Test
    void keysAndValuesOfConfigs() throws IOException {
        Path config = folder.resolve("hostile.yaml");
        String base = tiny.recipe().toAbsolutePath().toString();
        Files.writeString(
                config,
                String.format(
                        Locale.ROOT,
                        "base: [%s]\n\"%s\": 1\nepochs: \"%s\"\n",
                        base,
                        JSON_NAME,
                        JSON_NAME));
        CommandResult ended = saccade("config", config);
        assertEquals(2, ended.code(), ended.out());
        assertHarmless(ended);
        assertTrue(ended.err().contains(JSON_NAME + ": unknown key"), ended.err());
        assertTrue(ended.err().contains("got the string \"" + JSON_NAME), ended.err());

        Path named = folder.resolve(NAME + ".yaml");
        Files.writeString(named, String.format(Locale.ROOT, "base: [%s]\nepochs: 5\n", base));
        for (CommandResult shown :
                List.of(saccade("config", named), saccade("info", named, "--size=64x64"))) {
            assertEquals(0, shown.code(), shown.err());
            assertHarmless(shown);
        }
    }

    @Test
    void findsDataFoldersOfAnyName() throws IOException {
        Path data = folder.resolve(NAME + "'\"\\");
        SceneDataset.write(data, new SceneRenderer(1, new Size(64, 96)), 1, 1, n -> {});
        CommandResult ended = saccade("check", tiny.recipe(), "--data", data);
        assertEquals(0, ended.code(), ended.err());
    }

    @Test
    void imagesInFindings() throws IOException {
        Path data = folder.resolve("data");
        SceneDataset.write(data, new SceneRenderer(1, new Size(64, 96)), 1, 1, n -> {});
        Path annotations = data.resolve("annotations_train.json");
        String text = Files.readString(annotations).replace("scene_0001.jpg", JSON_NAME);
        Files.writeString(annotations, text);
        Path bad = Files.writeString(data.resolve("images").resolve(NAME), "<html>");
        CommandResult shown = saccade("check", tiny.recipe(), "--data", data);
        assertEquals(2, shown.code(), shown.err());
        assertHarmless(shown);
        assertTrue(shown.out().contains(JSON_NAME + ": image 1: is not an image"), shown.out());
        CommandResult json = saccade("check", tiny.recipe(), "--data", data, "--json");
        assertHarmless(json);
        assertEquals(
                bad.toString(), JSON.readTree(json.out()).at("/train/findings/0/file").asText());
    }

    @Test
    void imagesInMessages() throws IOException {
        Path bad = Files.writeString(folder.resolve(NAME + ".jpg"), "\u001b\u009b\u202e");
        Path good = tiny.photo(folder.resolve(NAME + "2.jpg"));
        CommandResult ended =
                saccade("predict", tiny.run(), bad, good, "--out", folder.resolve(NAME), "--json");
        assertEquals(2, ended.code(), ended.err());
        assertHarmless(ended);
        assertTrue(Files.exists(folder.resolve(NAME).resolve(NAME + "2.jpg")));
        assertEquals(good.toString(), JSON.readTree(ended.out()).at("/0/image").asText());
    }

    @Test
    void escapesOutputOfLibraries() {
        CommandResult ended =
                CommandResult.of(
                        () ->
                                Saccade.withEscapedOutput(
                                        () -> {
                                            LoggerFactory.getLogger("dev.saccade").warn("{}", NAME);
                                            System.out.print("Ü\u202e日\ud83e\udd8a");
                                            System.err.write(0xE2);
                                            System.err.write(0x80);
                                            System.err.write(0xAE);
                                            return 0;
                                        }));
        assertEquals("Ü\\u202e日\ud83e\udd8a", ended.out());
        assertEquals("WARN: " + JSON_NAME + "\n\\u202e", ended.err());
    }
}

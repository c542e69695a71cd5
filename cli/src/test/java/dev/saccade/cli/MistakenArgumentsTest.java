package dev.saccade.cli;

import static dev.saccade.cli.Ended.saccade;

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
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** One thing named where another is wanted, and what is said then. */
class MistakenArgumentsTest {

    private static final String CONFIG =
            "expected a config, such as configs/retinanet/resnet18_fpn_bccd.yaml";
    private static final String RUN =
            "expected the folder of a run, as train makes it, or a checkpoint";
    private static final String CHECKPOINT =
            "expected a checkpoint, such as checkpoints/best.safetensors of a run";
    private static final String DATA = "; --data DIR, or data.root of the config, names the folder";

    private static final Path RECIPE =
            Path.of("..", "configs", "retinanet", "resnet18_fpn_demo.yaml");

    @TempDir static Path folder;

    /** What is at each path of the folder, in the words of the messages. */
    private static final Map<String, String> KINDS = new TreeMap<>();

    @BeforeAll
    static void lay() throws IOException {
        KINDS.put("nowhere", "there is no such file or folder");
        KINDS.put("a.yaml", "is a config");
        KINDS.put("a.YML", "is a config");
        KINDS.put("a.safetensors", "is a checkpoint");
        KINDS.put("a.pth", "is a checkpoint");
        KINDS.put("a.JPG", "is a photograph");
        KINDS.put("a.gif", "is a photograph");
        KINDS.put("a.json", "is a file of JSON");
        KINDS.put("runs/a", "is the folder of a run");
        KINDS.put("runs", "is a folder of runs");
        KINDS.put("runs/a/checkpoints", "is a folder of checkpoints");
        KINDS.put("photos", "is a folder of photographs");
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

    /** Holds the message about each kind of path to what is wanted, but for the kinds that fit. */
    private static void assertToldApart(
            String expected, List<String> fitting, List<Object> before, Object... behind) {
        KINDS.forEach(
                (name, words) -> {
                    Path path = folder.resolve(name);
                    List<Object> args = new ArrayList<>(before);
                    args.add(path);
                    args.addAll(List.of(behind));
                    Ended ended = saccade(args.toArray());
                    assertEquals(2, ended.code(), ended.err());
                    String told = "saccade: " + path + ": " + words + "; " + expected;
                    assertEquals(
                            !fitting.contains(name),
                            ended.err().contains(told),
                            () -> args + ": " + ended.err());
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"train", "check", "browse", "info", "config", "bench model"})
    void whereAConfigIsWanted(String command) {
        List<Object> words = List.copyOf(Pattern.compile(" ").splitAsStream(command).toList());
        assertToldApart(CONFIG, List.of("a.yaml", "a.YML", "runs/a"), words);
    }

    @Test
    void whereARunIsWanted() {
        List<String> fitting = List.of("a.safetensors", "a.pth", "runs/a");
        assertToldApart(RUN, fitting, List.of("eval"));
        assertToldApart(RUN, fitting, List.of("predict"), folder.resolve("photos"));
        assertToldApart(RUN, fitting, List.of("export"), "--out", folder.resolve("served"));
        assertEquals(
                "saccade: %s: the run has no checkpoint yet; train --resume goes on with it%n"
                        .formatted(folder.resolve("runs/a")),
                saccade("eval", folder.resolve("runs/a")).err());
    }

    @Test
    void whereACheckpointIsWanted() {
        List<String> fitting = List.of("a.safetensors", "a.pth");
        assertToldApart(CHECKPOINT, fitting, List.of("convert"), folder.resolve("to.pth"));
        assertToldApart(CHECKPOINT, fitting, List.of("train", RECIPE, "--init-from"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"train", "check", "browse"})
    void whereAFolderOfDataIsWanted(String command) {
        for (String name : KINDS.keySet()) {
            Path path = folder.resolve(name);
            Ended ended = saccade(command, RECIPE, "--data", path);
            assertEquals(2, ended.code(), ended.err());
            if (!Files.isDirectory(path)) {
                String words = Files.exists(path) ? "is a file" : "there is no such folder";
                assertTrue(ended.err().contains(path + ": " + words + DATA), ended.err());
            }
        }
        Ended empty = saccade(command, RECIPE, "--data", folder.resolve("empty"));
        assertTrue(
                (empty.out() + empty.err()).contains("empty has neither labels nor photographs"),
                empty.toString());
    }

    @Test
    void aForgottenFolderOfDataIsNamed() {
        Path config = Path.of("..", "configs", "retinanet", "resnet18_fpn_bccd.yaml");
        for (String command : List.of("train", "check", "browse")) {
            Ended ended = saccade(command, config, "--set", "data.root=data/nowhere");
            assertEquals(2, ended.code());
            assertTrue(
                    ended.err().contains("data/nowhere: there is no such folder" + DATA),
                    ended.err());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "train, Missing required parameter: 'CONFIG', saccade train --help tells more",
        "train a --st, Unknown option: '--st', saccade train --help tells more",
        "tarin, Unmatched argument at index 0: 'tarin', saccade --help tells more",
        "help tarin, Unknown subcommand 'tarin'., saccade --help tells more",
        "bench, 'bench what? ops, model CONFIG, or ranks CONFIG', saccade bench --help tells more",
        "bench ops --runs x, Invalid value, saccade bench ops --help tells more",
        "info --all --jsn, Unknown option: '--jsn', saccade info --help tells more"
    })
    void aMistakenCommandIsToldInAFewLines(String line, String message, String help) {
        Ended ended = saccade((Object[]) line.split(" "));
        assertEquals(2, ended.code());
        assertTrue(ended.err().startsWith("saccade: " + message.replace("\"", "")), ended.err());
        assertTrue(ended.err().endsWith(help + "\n"), ended.err());
        assertTrue(ended.err().lines().count() <= 3, ended.err());
        assertEquals("", ended.out());
    }

    @Test
    void theCommandThatWasMeantIsNamed() {
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
    void everyCommandKnowsItsVersion(String line) throws IOException {
        String version = Version.saccade();
        assertTrue(Files.readString(Path.of("..", "pom.xml")).contains("<version>" + version));
        Ended ended = saccade((Object[]) line.split(" "));
        assertEquals(new Ended(0, "saccade " + version + "\n", ""), ended);
    }

    @Test
    void aDemoLeavesTheScenesOfAnotherAlone() throws IOException {
        Path scenes = Files.createDirectories(folder.resolve("shown-scenes"));
        Ended ended = saccade("demo", "--out", folder.resolve("shown"));
        assertEquals(2, ended.code());
        assertTrue(ended.err().contains("the scenes of another demo are here"), ended.err());
        Ended run = saccade("demo", "--out", folder.resolve("runs/a"));
        assertTrue(run.err().contains("runs/a: not empty"), run.err());
        assertFalse(Files.exists(folder.resolve("runs/a-scenes")), "rendered before the refusal");
        Files.delete(scenes);
    }

    @Test
    void aLogOfTheCheckCountsAndClaimsNoShare() {
        Ended ended = saccade("check", RECIPE, "--data", folder.resolve("other"));
        assertFalse(ended.err().contains("?"), ended.err());
        assertFalse(ended.err().contains("\r") || ended.err().contains(" \n"), ended.err());
        assertTrue(ended.err().contains("check  0 photos\n"), ended.err());
        assertTrue(ended.out().contains("  1 error, 0 warnings\n"), ended.out());
    }
}

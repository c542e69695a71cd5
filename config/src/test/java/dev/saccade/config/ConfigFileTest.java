package dev.saccade.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

class ConfigFileTest {

    @TempDir Path folder;

    @Test
    void everyValueKnowsFileLineAndColumn() throws IOException {
        Path file = write("a.yaml", "name: x\nmodel:\n  backbone: {depth: 50}\n");

        ConfigNode.Mapping model = (ConfigNode.Mapping) load(file).get("model").orElseThrow();
        ConfigNode.Mapping backbone = (ConfigNode.Mapping) model.get("backbone").orElseThrow();

        assertEquals(new Origin(file.toString(), 2, 1), model.origin());
        assertEquals(
                new Origin(file.toString(), 3, 14), backbone.get("depth").orElseThrow().origin());
    }

    @Test
    void mapsMergeAndListsAreReplaced() throws IOException {
        write("bases/one.yaml", "a: {x: 1, y: 2}\nlist: [1, 2, 3]\nkept: true\n");
        write("bases/two.yaml", "a: {y: 3}\n");
        Path file =
                write("top.yaml", "base: [bases/one.yaml, bases/two.yaml]\na: {z: 4}\nlist: [9]\n");

        assertEquals(
                "a:\n  x: 1\n  y: 3\n  z: 4\nlist: [9]\nkept: true\n",
                ConfigWriter.yaml(load(file)));
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void rejectsDeviceFiles() {
        String told = failure(Path.of("/dev/null"));
        assertTrue(told.startsWith("/dev/null: is a pipe, a socket or a device"), told);
    }

    @Test
    void basesAreRelativeToTheFileThatNamesThem() throws IOException {
        write("deep/er/c.yaml", "v: 1\n");
        write("deep/b.yaml", "base: er/c.yaml\nw: 2\n");
        Path file = write("a.yaml", "base: deep/b.yaml\n");

        assertEquals("v: 1\nw: 2\n", ConfigWriter.yaml(load(file)));
    }

    @Test
    void anotherTypeDropsTheSettingsOfTheOldOne() throws IOException {
        write("base.yaml", "backbone: {type: resnet, depth: 50}\n");

        Path other = write("a.yaml", "base: base.yaml\nbackbone: {type: swin, window: 7}\n");
        Path same = write("b.yaml", "base: base.yaml\nbackbone: {type: resnet, stages: 4}\n");

        assertEquals("backbone:\n  type: swin\n  window: 7\n", ConfigWriter.yaml(load(other)));
        assertEquals(
                "backbone:\n  type: resnet\n  depth: 50\n  stages: 4\n",
                ConfigWriter.yaml(load(same)));
    }

    @Test
    void appliesOverridesInOrder() throws IOException {
        Path file = write("a.yaml", "model: {depth: 50, name: x}\n");

        ConfigNode.Mapping config =
                ConfigFile.load(
                        file, List.of("model.depth=18", "model.depth=34", "model.scales=[1, 2]"));

        assertEquals(
                "model:\n  depth: 34\n  name: x\n  scales: [1, 2]\n", ConfigWriter.yaml(config));
        assertTrue(ConfigWriter.yamlWithOrigins(config).contains("# settings"));
    }

    @Test
    void allMalformedOverridesAreReportedTogether() throws IOException {
        Path file = write("a.yaml", "a: 1\n");

        String message =
                assertThrows(
                                SaccadeException.class,
                                () -> ConfigFile.load(file, List.of("a", "b=[1", "c..d=1", "e=2")))
                        .getMessage();

        assertTrue(message.startsWith("config: 3 problems"), message);
        assertTrue(message.contains("settings b=[1"), message);
    }

    @Test
    void cyclesNameTheChain() throws IOException {
        write("b.yaml", "base: c.yaml\n");
        write("c.yaml", "base: ./a.yaml\n");

        String message = failure(write("a.yaml", "base: b.yaml\n"));

        assertTrue(message.contains("own base"), message);
        assertTrue(message.contains("c.yaml, base of") && message.contains("b.yaml"), message);
    }

    @Test
    void missingFilesNameTheChain() throws IOException {
        String message = failure(write("a.yaml", "base: nowhere.yaml\n"));

        assertTrue(message.contains("nowhere.yaml (base of"), message);
        assertTrue(message.contains("no such file"), message);
        assertTrue(failure(folder.resolve("x.yaml")).contains("no such file"));
        assertTrue(failure(folder).contains("no such file"));
    }

    @Test
    void rejectsABaseThatIsNotAFileName() throws IOException {
        assertTrue(failure(write("a.yaml", "v: 1\nbase: {x: 1}\n")).contains("a.yaml:2: base"));
        assertTrue(failure(write("b.yaml", "base: \"a\\0b\"\n")).contains("file name"));
    }

    @Test
    void aDiamondOfBasesIsReadInTimeLinearInItsFiles() throws IOException {
        write("f0.yaml", "v: 0\n");
        for (int i = 1; i < 40; i++) {
            String below = "f" + (i - 1) + ".yaml";
            write("f" + i + ".yaml", "base: [" + below + ", " + below + "]\nv: " + i + "\n");
        }

        Path top = folder.resolve("f39.yaml");

        assertEquals(
                "v: 39\n",
                assertTimeoutPreemptively(
                        Duration.ofSeconds(20), () -> ConfigWriter.yaml(load(top))));
    }

    @Test
    void anAliasBombIsStopped() throws IOException {
        StringBuilder bomb = new StringBuilder("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for (int i = 1; i < 12; i++) {
            String alias = "*a" + (i - 1);
            bomb.append("a" + i + ": &a" + i + " [" + String.join(", ", alias, alias, alias, alias))
                    .append("]\n");
        }

        assertTrue(failure(write("a.yaml", bomb.toString())).contains("aliases"));
    }

    @Test
    void aFewAliasesAreRead() throws IOException {
        Path file = write("a.yaml", "one: &x {depth: 18}\ntwo: *x\n");

        assertEquals("one:\n  depth: 18\ntwo:\n  depth: 18\n", ConfigWriter.yaml(load(file)));
    }

    @Test
    void hostileTextsAreReportedInOneLineWithTheirOrigin() throws IOException {
        assertRefused("a: !!java.net.URL [x]\n", "a.yaml:1: tag tag:yaml.org");
        assertRefused("a: !!str 5\n", "tag ");
        assertRefused("!thing {a: 1}\n", "tag ");
        assertRefused("!!int a: 1\n", "tag ");
        assertRefused("a: 1\nb: 2\na: 3\n", "a.yaml:3: key a is duplicated, first at");
        assertRefused("a:\n\tb: 1\n", "a.yaml:2: invalid YAML");
        assertRefused("", "empty");
        assertRefused("# only a comment\n", "empty");
        assertRefused("- 1\n", "got a list");
        assertRefused("just words\n", "got the string");
        assertRefused("word".repeat(1000), "got the string");
        assertRefused("a: 1\n---\na: 2\n", "second document");
        assertRefused("? [1]\n: 2\n", "expected a name");
        assertRefused("a: *b\n", "*b is not defined");
        assertRefused("a: &a [*a]\n", "*a is not defined");
        assertRefused("a: " + "[".repeat(100) + "]".repeat(100) + "\n", "more than 64 nested");
        assertRefused("a: " + "[".repeat(100_000) + "\n", "more than 64 nested");
        assertRefused("a: \u0007\n", "invalid YAML");
        assertRefused("a: \"\\x", "invalid escape");
        assertRefused("a: \"\\UFFFFFFFF\"\n", "invalid YAML");
        assertRefused("a: 1e400\n", "too large");
        assertRefused("a: " + "9".repeat(900_000) + "\n", "more than 100 digits");
        assertRefused("a: 'never closed\n", "invalid YAML");
        assertRefused("a: 1\n" + "# padding\n".repeat(200_000), "more than 1 MB");
    }

    @Test
    void rejectsInvalidUtf8() throws IOException {
        Path file = folder.resolve("a.yaml");
        Files.write(file, new byte[] {'a', ':', ' ', (byte) 0xff, (byte) 0xfe});

        assertTrue(failure(file).contains("invalid UTF-8"));
    }

    private void assertRefused(String text, String expected) throws IOException {
        String message = failure(write("a.yaml", text));
        assertTrue(message.contains(expected), message);
        assertEquals(1, message.lines().count(), message);
        assertTrue(message.length() < 500, message);
    }

    private static String failure(Path file) {
        SaccadeException e = assertThrows(SaccadeException.class, () -> load(file));
        assertEquals(SaccadeException.Kind.USER, e.kind());
        return e.getMessage();
    }

    private static ConfigNode.Mapping load(Path file) {
        return ConfigFile.load(file, List.of());
    }

    private Path write(String name, String text) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, text);
    }
}

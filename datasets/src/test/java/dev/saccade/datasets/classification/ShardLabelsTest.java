package dev.saccade.datasets.classification;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Labels, class files and paths of shards that are ambiguous or damaged. */
class ShardLabelsTest {

    private static final CheckOptions OPTIONS =
            new CheckOptions(true, TargetKind.CLASSES, 1, () -> {});

    @TempDir Path root;

    private static WebDataset.Config config(String... shards) {
        return new WebDataset.Config(List.of(shards), List.of(), Optional.empty(), 1);
    }

    private static Shards labeled() {
        return new Shards().image("a.jpg", 8, 8).text("a.cls", "cat");
    }

    private DatasetReport check() {
        return config("*.tar").check(root, OPTIONS);
    }

    private List<String> errors() {
        return check().messages(Finding.Severity.ERROR);
    }

    private List<String> warnings() {
        return check().messages(Finding.Severity.WARNING);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"label\": null}|has no label",
                "{\"label\": true}|has no label",
                "{\"label\": 1.0}|has no label",
                "{\"label\": \"cat\"|is not valid JSON: Unexpected end-of-input",
                "{\"label\": \"cat\", \"label\": \"dog\"}|is not valid JSON: Duplicate",
                "{\"label\": \"cat\\ndog\"}|the label has line breaks",
            })
    void rejectsJsonWithoutOneLabel(String json, String error) {
        labeled().image("b.jpg", 8, 8).text("b.json", json).write(root.resolve("0.tar"));
        String found = errors().toString();
        assertTrue(found.contains("0.tar/b.json: " + error), found);
        assertFalse(found.contains("Source"), found);
    }

    @Test
    void rejectsTextThatIsNoName() {
        labeled()
                .image("b.jpg", 8, 8)
                .text("b.cls", "cat\ndog")
                .image("c.jpg", 8, 8)
                .text("c.cls", "c".repeat(1001))
                .image("d.jpg", 8, 8)
                .add("d.cls", new byte[] {'d', (byte) 0xFF})
                .write(root.resolve("0.tar"));
        List<String> errors = errors();
        assertEquals(3, errors.size(), errors.toString());
        assertTrue(errors.get(0).contains("b.cls: the label has line breaks"), errors.get(0));
        assertTrue(errors.get(1).contains("more than 1000 characters"), errors.get(1));
        assertTrue(errors.get(2).contains("d.cls: is not UTF-8 text"), errors.get(2));
    }

    @Test
    void ignoresByteOrderMarks() throws IOException {
        labeled().image("b.jpg", 8, 8).text("b.cls", "\ufeffdog").write(root.resolve("0.tar"));
        assertEquals(List.of("cat", "dog"), config("0.tar").open(root).classes());
        Files.writeString(root.resolve("names.txt"), "\ufeffdog\r\ncat\r\n");
        assertEquals(List.of("dog", "cat"), withNames().open(root).classes());
    }

    private static WebDataset.Config withNames() {
        return new WebDataset.Config(List.of("0.tar"), List.of(), Optional.of("names.txt"), 1);
    }

    @ParameterizedTest
    @CsvSource({
        "'cat\n\ndog\n', 'names.txt:2: the line is blank, which would shift the indices'",
        "'cat\ndog\ncat\n', class \"cat\" occurs twice",
        "'\n \n', 'is empty, expected a class name per line'",
    })
    void rejectsAmbiguousClassFiles(String names, String error) throws IOException {
        labeled().write(root.resolve("0.tar"));
        Files.writeString(root.resolve("names.txt"), names);
        String message =
                assertThrows(SaccadeException.class, () -> withNames().open(root)).getMessage();
        assertTrue(message.contains(error), message);
    }

    @Test
    void reportsSecondLabelsOfASample() {
        labeled().text("a.json", "{\"label\": \"dog\"}").write(root.resolve("0.tar"));
        assertEquals(List.of("cat"), config("0.tar").open(root).classes());
        assertTrue(
                warnings().toString().contains("skips 1 file (*.json next to *.cls)"),
                warnings().toString());
        labeled().text("a.CLS", "dog").write(root.resolve("1.tar"));
        assertTrue(
                errors().toString().contains("a.cls and a.CLS have the same key"),
                errors().toString());
    }

    @Test
    void reportsEmptyShardsAndSimilarClasses() {
        labeled().image("b.jpg", 9, 9).text("b.cls", "Cat").write(root.resolve("0.tar"));
        new Shards().write(root.resolve("1.tar"));
        List<String> warnings = warnings();
        assertTrue(warnings.toString().contains("1.tar: has no samples"), warnings.toString());
        assertTrue(
                warnings.toString().contains("the classes \"Cat\" and \"cat\" differ only in case"),
                warnings.toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "train",
                "",
                "train.tar.gz",
                "TRAIN.TAR",
                "[*.tar",
                "{a*.tar",
                "a\0b.tar",
                "train-{3..1}.tar",
                "{0..999999}.tar",
                "{0..999}/{0..999}.tar",
                "{0..99999}{0..99999}{0..99999}{0..99999}{0..99999}.tar",
            })
    void rejectsInvalidPaths(String path) {
        Checks.InvalidSettings failure =
                assertThrows(Checks.InvalidSettings.class, () -> config("a.tar", path));
        assertTrue(failure.getMessage().startsWith("shards: got "), failure.getMessage());
    }

    @Test
    void limitsTheShardsOfAllPaths() {
        assertThrows(
                Checks.InvalidSettings.class, () -> config("{1..60000}.tar", "b{1..60000}.tar"));
    }

    @Test
    void findsAlternativesAndLiteralBrackets() {
        labeled().write(root.resolve("train-a.tar"));
        labeled().write(root.resolve("train-b.tar"));
        labeled().write(root.resolve("train[1].tar"));
        assertEquals(2, config("train-{a,b}.tar").open(root).size());
        assertEquals(1, config("train[1].tar").open(root).size());
    }

    @Test
    void reportsManyMissingShards() {
        SaccadeException failure =
                assertThrows(SaccadeException.class, () -> config("{0..9999}.tar").open(root));
        assertTrue(failure.getMessage().contains("and 9980 more"), failure.getMessage());
    }
}

package dev.saccade.parity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** No kind ignores a setting, wherever it is in a case. */
class UnknownSettingsTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String UNKNOWN = "unheard_of";

    /** Descriptive objects, and one whose keys are parameter names. */
    private static final Set<String> NO_SETTINGS = Set.of("arrays", "files", "custom_keys");

    @TempDir Path changed;

    @TestFactory
    Stream<DynamicTest> isToldByItsName() throws IOException, URISyntaxException {
        Path root = Path.of(UnknownSettingsTest.class.getResource("/own").toURI()).getParent();
        List<Path> folders = new ArrayList<>(Fixtures.cases(root.resolve("fixtures")));
        folders.addAll(Fixtures.cases(root.resolve("own")));
        return folders.stream()
                .map(
                        folder -> {
                            String name = Fixtures.name(root, folder);
                            return dynamicTest(
                                    name, () -> isReported(folder, changed.resolve(name)));
                        });
    }

    private static void isReported(Path folder, Path copy) throws IOException {
        Files.createDirectories(copy);
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.copy(file, copy.resolve(file.getFileName()));
            }
        }
        JsonNode described = JSON.readTree(folder.resolve("case.json").toFile());
        Set<String> added = new TreeSet<>();
        add(described, "", added);
        JSON.writeValue(copy.resolve("case.json").toFile(), described);
        try (Case recorded = Case.open(copy)) {
            String failure =
                    assertThrows(AssertionError.class, () -> Kinds.run(recorded)).getMessage();
            String title = "case " + folder.getFileName();
            Set<String> expected =
                    added.stream()
                            .map(name -> title + ": setting " + name + " is not known")
                            .collect(Collectors.toCollection(TreeSet::new));
            assertEquals(expected, failure.lines().collect(Collectors.toCollection(TreeSet::new)));
        }
    }

    /** Adds a key to an object and all nested objects. */
    private static void add(JsonNode node, String path, Set<String> added) {
        if (node instanceof ObjectNode object) {
            String prefix = path.isEmpty() ? "" : path + ".";
            for (var entry : object.properties()) {
                if (!NO_SETTINGS.contains(entry.getKey())) {
                    add(entry.getValue(), prefix + entry.getKey(), added);
                }
            }
            object.put(UNKNOWN, 1);
            added.add(prefix + UNKNOWN);
        } else {
            for (int i = 0; i < node.size(); i++) {
                add(node.get(i), path + "[" + i + "]", added);
            }
        }
    }
}

package dev.saccade.examples.components;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.core.components.ClassificationHead;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.ComponentProvider;
import dev.saccade.core.components.SegmentationHead;
import dev.saccade.datasets.BatchAugment;
import dev.saccade.heads.classification.ImageLoss;
import dev.saccade.video.tracking.Tracker;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The table of {@code extending.md} lists every component type with an example. */
class CustomTableTest {

    private static final Path DOCS = Path.of("../docs");

    private static final Pattern ROW =
            Pattern.compile(
                    "^\\| [a-z -]+ \\| \\[(\\w+)(\\.Config)?]\\((\\S+)\\) \\| `(\\S+)` \\|"
                            + " \\[(\\w+)]\\((\\S+)\\) \\|$",
                    Pattern.MULTILINE);

    /** A row: interface, config key, and record of the example. */
    private record Row(Class<?> kind, Path source, String key, Class<?> example) {

        static Row of(MatchResult cells) {
            String nested = cells.group(2) == null ? "" : "$Config";
            Class<?> example = type(cells.group(6), "");
            assertEquals(cells.group(5), example.getSimpleName());
            return new Row(
                    type(cells.group(3), nested),
                    DOCS.resolve(cells.group(3)),
                    cells.group(4),
                    example.isAnnotationPresent(Component.class)
                            ? example
                            : type(cells.group(6), "$Config"));
        }

        private static Class<?> type(String link, String nested) {
            assertTrue(Files.isRegularFile(DOCS.resolve(link)), link);
            String name = link.replaceAll(".*/java/|\\.java$", "").replace('/', '.');
            try {
                return Class.forName(name + nested);
            } catch (ClassNotFoundException e) {
                throw new AssertionError(link, e);
            }
        }
    }

    private static List<Row> rows() throws IOException {
        String page = Files.readString(DOCS.resolve("extending.md"));
        return ROW.matcher(page).results().map(Row::of).toList();
    }

    @Test
    void examplesMatchTypesAndConfig() throws IOException {
        ConfigNode config =
                ConfigFile.load(Path.of("src/test/resources/custom_components.yaml"), List.of());
        for (Row row : rows()) {
            assertTrue(row.kind.isAssignableFrom(row.example), row.toString());
            ConfigNode node = config;
            for (String key : row.key.split("\\.", -1)) {
                node = ((ConfigNode.Mapping) node).entries().get(key);
            }
            ConfigNode named = node instanceof ConfigNode.Sequence all ? all.items().get(0) : node;
            ConfigNode type = ((ConfigNode.Mapping) named).entries().get("type");
            String name = row.example.getAnnotation(Component.class).value();
            assertEquals(name, ((ConfigNode.Scalar) type).value(), row.key);
        }
    }

    @Test
    void everyComponentTypeHasARow() throws IOException {
        // The page describes these types below the table.
        Set<Class<?>> kinds =
                new HashSet<>(
                        Set.of(
                                SegmentationHead.Config.class,
                                ClassificationHead.Config.class,
                                ImageLoss.class,
                                BatchAugment.class,
                                Tracker.Config.class));
        rows().forEach(row -> kinds.add(row.kind));
        assertEquals(20, kinds.size(), kinds.toString());
        List<Class<? extends ComponentConfig>> parts =
                ServiceLoader.load(ComponentProvider.class).stream()
                        .flatMap(provider -> provider.get().components().stream())
                        .toList();
        for (Class<? extends ComponentConfig> part : parts) {
            Stream<Class<?>> its = kinds.stream().filter(kind -> kind.isAssignableFrom(part));
            assertEquals(1, its.count(), part.getName());
        }
        assertTrue(parts.size() > 50, "only " + parts.size());
    }

    @Test
    void everyComponentTypeIsExplained() throws IOException {
        for (Row row : rows()) {
            Path packageInfo = row.source.resolveSibling("package-info.java");
            String text = Files.readString(row.source) + Files.readString(packageInfo);
            assertTrue(text.contains("ComponentProvider}"), row.source.toString());
        }
    }
}

package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.Configs;
import dev.saccade.core.Text;
import dev.saccade.core.components.Backbone;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Recomputes the table of backbones in the README. */
class BackboneSummaryTest {

    private static final String HEAD =
            """
            | name | parameters (M) | as classifier (M) | multiply-adds (G) |
            |---|---:|---:|---:|
            """;

    private static final List<BackboneSummary> ALL = new ArrayList<>();

    @BeforeAll
    static void count() {
        for (Class<? extends Backbone.Config> family :
                Configs.registered(Backbone.Config.class).values()) {
            Configs.variants(family)
                    .forEach((name, config) -> ALL.add(BackboneSummary.measure(name, config)));
        }
    }

    @Test
    void readmeHasTheComputedTable() throws IOException {
        String table =
                HEAD + ALL.stream().map(BackboneSummaryTest::row).collect(Collectors.joining());
        String readme = Files.readString(Path.of("README.md"));
        int start = readme.indexOf("| name |");
        assertTrue(start >= 0, "README.md has no table that starts as this:\n" + table);
        assertEquals(table, readme.substring(start, readme.indexOf("\n\n", start) + 1));
    }

    private static String row(BackboneSummary backbone) {
        return Text.format(
                "| `%s` | %.2f | %.2f | %.2f |%n",
                backbone.name(),
                backbone.parameters() / 1e6,
                backbone.classifierParameters() / 1e6,
                backbone.multiplyAdds() / 1e9);
    }
}

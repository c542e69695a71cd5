package dev.saccade.backbones;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.Configs;
import dev.saccade.core.Text;
import dev.saccade.core.parts.Backbone;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The README's table of all backbones, made from the code and {@code published.csv}. */
class BackboneSummaryTest {

    private static final String HEAD =
            """
            | name | parameters (M) | as classifier (published) | multiply-adds (G) (published) | top-1 | source | why ours differ |
            |---|---:|---:|---:|---:|---|---|
            """;

    private static final List<BackboneSummary> ALL = new ArrayList<>();

    @BeforeAll
    static void count() {
        for (Class<? extends Backbone.Config> family :
                Configs.known(Backbone.Config.class).values()) {
            Configs.members(family)
                    .forEach((name, config) -> ALL.add(BackboneSummary.measure(name, config)));
        }
    }

    @Test
    void theReadmeSaysHowLargeTheyAre() throws IOException {
        String table =
                HEAD + ALL.stream().map(BackboneSummaryTest::row).collect(Collectors.joining());
        String readme = Files.readString(Path.of("README.md"));
        int start = readme.indexOf("| name |");
        assertTrue(start >= 0, "README.md has no table that starts as this:\n" + table);
        assertEquals(table, readme.substring(start, readme.indexOf("\n\n", start) + 1));
    }

    @Test
    void everyDifferenceHasAReasonAndNothingElseHas() {
        for (BackboneSummary backbone : ALL) {
            backbone.published()
                    .ifPresent(
                            published ->
                                    assertEquals(
                                            differs(backbone, published),
                                            !published.remark().isEmpty(),
                                            backbone.toString()));
        }
    }

    @Test
    void everyPublishedFigureIsOfABackbone() {
        TreeSet<String> unknown = new TreeSet<>(PublishedFigures.names());
        ALL.forEach(backbone -> unknown.remove(backbone.name()));
        assertEquals(new TreeSet<>(), unknown);
    }

    private static String row(BackboneSummary backbone) {
        Optional<PublishedFigures> published = backbone.published();
        return String.format(
                Locale.ROOT,
                "| `%s` | %s | %s | %s | %s | %s | %s |%n",
                backbone.name(),
                decimals(backbone.parameters(), 6),
                decimals(backbone.classifierParameters(), 6)
                        + inBrackets(published.flatMap(PublishedFigures::parameters)),
                decimals(backbone.multiplyAdds(), 9)
                        + size(backbone)
                        + inBrackets(published.flatMap(PublishedFigures::multiplyAdds)),
                published.flatMap(PublishedFigures::top1).map(Object::toString).orElse(""),
                published.map(PublishedFigures::source).orElse(""),
                published.map(PublishedFigures::remark).orElse(""));
    }

    private static String decimals(long count, int digits) {
        return Text.format("%.2f", count / Math.pow(10, digits));
    }

    private static String size(BackboneSummary backbone) {
        int side = backbone.imageSize();
        return side == PublishedFigures.USUAL_SIZE ? "" : " at " + side + "x" + side;
    }

    private static String inBrackets(Optional<BigDecimal> figure) {
        return figure.map(value -> " (" + value + ")").orElse("");
    }

    private static boolean differs(BackboneSummary backbone, PublishedFigures published) {
        return differs(backbone.classifierParameters(), 6, published.parameters())
                || differs(backbone.multiplyAdds(), 9, published.multiplyAdds());
    }

    /** Returns whether a count is another number when rounded as the published one is. */
    private static boolean differs(long count, int digits, Optional<BigDecimal> published) {
        return published.isPresent()
                && BigDecimal.valueOf(count, digits)
                                .setScale(published.get().scale(), RoundingMode.HALF_UP)
                                .compareTo(published.get())
                        != 0;
    }
}

package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.ImmutableMap;

import dev.saccade.models.zoo.Recipe;
import dev.saccade.models.zoo.Zoo;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Compares {@code docs/models.md} with the recipes, and checks the links of all pages. */
class ReadmeTest {

    private static final Path HOME = Path.of("..");

    /** Prefix of recipe names, and the variants that follow. */
    private static final Map<String, List<String>> BACKBONES =
            ImmutableMap.of(
                    "resnet", List.of("18", "50", "101"),
                    "resnext101_", List.of("32x4d", "64x4d"),
                    "pvt_", List.of("tiny", "small", "medium", "large"),
                    "swin_", List.of("tiny", "small", "base"),
                    "elsa_swin_", List.of("tiny", "small", "base"),
                    "focal_", List.of("tiny", "small", "base"),
                    "linglo_", List.of("b0", "b1", "b2"));

    /** Heads in the order of the table, with their metrics. */
    private static final Map<String, List<String>> HEADS =
            ImmutableMap.of(
                    "retinanet", List.of("box_ap"),
                    "mask_rcnn", List.of("box_ap", "mask_ap"),
                    "cascade_mask_rcnn", List.of("box_ap", "mask_ap"),
                    "semantic_fpn", List.of("miou"),
                    "upernet", List.of("miou_scales"));

    /** Rows of the table of the strongest detectors. */
    private static final Map<String, List<String>> LARGE =
            ImmutableMap.of(
                    "resnet", List.of("50", "101"),
                    "resnext101_", List.of("32x4d", "64x4d"),
                    "swin_", List.of("base", "large"),
                    "focal_", List.of("large"));

    private static final Map<String, List<String>> STRONG =
            ImmutableMap.of(
                    "atss", List.of("box_ap"),
                    "dyhead", List.of("box_ap"),
                    "htc", List.of("box_ap", "mask_ap"));

    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]*)(?:#([^)]*))?\\)");
    private static final Pattern CODE =
            Pattern.compile("^```.*?^```", Pattern.DOTALL | Pattern.MULTILINE);
    private static final Pattern HEADING = Pattern.compile("^#+ (.*)$", Pattern.MULTILINE);

    @Test
    void modelTablesMatchTheRecipes() throws IOException {
        String page = Files.readString(HOME.resolve("docs/models.md"));
        List<Recipe> recipes = List.copyOf(Zoo.packaged().recipes());
        List<Recipe> inTables =
                recipes.stream().filter(recipe -> !recipe.name().endsWith("_torchvision")).toList();
        requireRows(page, inTables, BACKBONES, HEADS);
        requireRows(page, inTables, LARGE, STRONG);
        long published =
                recipes.stream().filter(recipe -> recipe.publication().isPresent()).count();
        assertTrue(page.contains(published + " recipes"), published + " recipes");
    }

    private static void requireRows(
            String page,
            List<Recipe> recipes,
            Map<String, List<String>> backbones,
            Map<String, List<String>> heads) {
        backbones.forEach(
                (backbone, variants) -> {
                    List<String> cells = new ArrayList<>();
                    heads.forEach(
                            (head, names) ->
                                    cells.add(
                                            cell(
                                                    variants.stream()
                                                            .map(
                                                                    v ->
                                                                            head + "/" + backbone
                                                                                    + v + "_")
                                                            .map(s -> results(recipes, s, names))
                                                            .toList())));
                    String row = " | " + String.join(" | ", cells) + " |\n";
                    assertTrue(page.contains(row), () -> backbone + row);
                });
    }

    private static String cell(List<String> results) {
        return results.stream().allMatch("–"::equals) ? "" : String.join(" · ", results);
    }

    /** Returns the published results of the recipe with the longest schedule, which is the last. */
    private static String results(List<Recipe> recipes, String start, List<String> names) {
        Optional<Map<String, BigDecimal>> published =
                recipes.stream()
                        .filter(recipe -> recipe.name().startsWith(start))
                        .filter(recipe -> recipe.publication().isPresent())
                        .map(Recipe::published)
                        .reduce((first, last) -> last);
        return published
                .filter(results -> results.keySet().containsAll(names))
                .map(
                        results ->
                                names.stream()
                                        .map(name -> results.get(name).toString())
                                        .collect(Collectors.joining("/")))
                .orElse("–");
    }

    @Test
    void everyLinkedFileAndHeadingExists() throws IOException {
        List<String> broken = new ArrayList<>();
        int links = 0;
        for (Path page : pages()) {
            for (MatchResult link : LINK.matcher(Files.readString(page)).results().toList()) {
                links++;
                String file = link.group(1);
                String anchor = link.group(2);
                Path target = file.isEmpty() ? page : page.resolveSibling(file);
                if (!Files.exists(target)
                        || (anchor != null && !anchors(target).contains(anchor))) {
                    broken.add(page + ": " + link.group());
                }
            }
        }
        assertTrue(links > 10, links + " links");
        assertEquals(List.of(), broken);
    }

    /** Returns the anchors that GitHub creates for the headings of a page. */
    private static List<String> anchors(Path page) throws IOException {
        String text = CODE.matcher(Files.readString(page)).replaceAll("");
        return HEADING.matcher(text)
                .results()
                .map(heading -> heading.group(1).replaceAll("\\]\\([^)]*\\)", ""))
                .map(heading -> heading.toLowerCase(Locale.ROOT).replaceAll("[^\\w\\- ]", ""))
                .map(heading -> heading.replace(' ', '-'))
                .toList();
    }

    static List<Path> pages() throws IOException {
        try (Stream<Path> files = Files.walk(HOME, 2)) {
            return files.filter(file -> file.toString().endsWith(".md")).toList();
        }
    }
}

package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.backbones.BackboneSummary;
import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.core.Text;
import dev.saccade.core.components.Backbone;
import dev.saccade.core.structures.Size;
import dev.saccade.models.Model;
import dev.saccade.models.ModelConfig;
import dev.saccade.models.zoo.Papers;
import dev.saccade.models.zoo.Papers.Row;
import dev.saccade.models.zoo.Papers.Source;
import dev.saccade.models.zoo.Papers.Table;
import dev.saccade.models.zoo.Recipe;
import dev.saccade.models.zoo.Zoo;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.optimizers.Gradients;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Recomputes {@code docs/papers.md}, which compares our models with {@code papers.yaml}. */
class PapersTest {

    private static final Path PAGE = Path.of("..", "docs", "papers.md");
    private static final Path COMPUTED = Path.of("target", "papers.md");
    private static final Path CONFIGS = Path.of("..", "configs");
    private static final Papers PAPERS = Papers.packaged();

    private static final String INTRODUCTION =
            """
            # Results of the papers

            Find the recipe of a published result, and compare the published model size with Saccade's. The
            tables list parameters in millions, multiply-adds in billions (papers call them FLOPs) and published
            accuracies in percent.

            **The accuracies are the papers' results.** Saccade has not trained these recipes; their outputs,
            gradients and schedules match the authors' code. Papers report different results for the same
            model, so each table uses the results of one paper.

            To count a recipe yourself:

            ```
            ./saccade info mask_rcnn/swin_tiny_fpn_1x_coco --size 800x1280
            ./saccade info upernet/swin_tiny_160k_ade20k --size 512x2048 --classes 150
            ```

            - Names with a slash are recipes. Other names are [backbone variants](../backbones/README.md). To
              train a detector with a variant, set it in a recipe, such as
              `--set model.backbone.variant=tiny_w14` for `swin_tiny_w14`.
            - Parameters are trainable. ImageNet classifiers include the layer for 1000 classes; the
              parallel convolutions of LinGlo classifiers are merged, as in inference.
            - Multiply-adds include convolutions, matrix products and attention, for images of 224x224
              (ImageNet), 1280x800 (COCO) and 2048x512 (ADE20K) unless the title has another size.
            - As in mmdetection, two-stage detectors count 1,000 proposals and 100 masks. As in
              mmsegmentation, auxiliary heads are not counted.
            - Differences beyond rounding are listed with their reason.
            - Multi-scale results need [test-time augmentation](evaluating.md#use-test-time-augmentation).

            This page is generated from `configs/papers.yaml`.
            """;

    /** Counts of a model. */
    private record Counts(long parameters, long multiplyAdds) {

        BigDecimal rounded(String column, BigDecimal published, int extraDigits) {
            BigDecimal exact =
                    column.equals("parameters")
                            ? BigDecimal.valueOf(parameters, 6)
                            : BigDecimal.valueOf(multiplyAdds, 9);
            return exact.setScale(published.scale() + extraDigits, RoundingMode.HALF_UP);
        }
    }

    private static final List<String> COUNTED = List.of("parameters", "flops");
    private static final Map<String, String> UNITS = Map.of("parameters", "M", "flops", "G");

    private static final Map<String, String> HEADINGS =
            Map.of(
                    "parameters", "parameters (M)",
                    "flops", "multiply-adds (G)",
                    "top1", "top-1",
                    "box_ap", "box AP",
                    "mask_ap", "mask AP",
                    "miou", "mIoU",
                    "_scales", ", multi-scale",
                    "_test_dev", ", test-dev");

    private static final Map<String, Backbone.Config> VARIANTS = new HashMap<>();
    private static final Map<String, ModelConfig> MODELS = new HashMap<>();
    private static final Map<List<Object>, Counts> COUNTS = new HashMap<>();

    @BeforeAll
    static void findVariants() {
        for (Class<? extends Backbone.Config> family :
                Configs.registered(Backbone.Config.class).values()) {
            VARIANTS.putAll(Configs.variants(family));
        }
    }

    @Test
    void isRecomputed() throws IOException {
        String page =
                INTRODUCTION
                        + PAPERS.sources().values().stream()
                                .map(PapersTest::section)
                                .collect(Collectors.joining());
        Files.writeString(COMPUTED, page, UTF_8);
        assertEquals(
                Files.exists(PAGE) ? Files.readString(PAGE, UTF_8) : "",
                page,
                "docs/papers.md is outdated; copy train/target/papers.md to it");
    }

    @Test
    void differencesHaveReasons() {
        List<String> wrong = new ArrayList<>();
        Set<String> used = new TreeSet<>();
        forEachRow(
                (table, row) -> {
                    row.reason().ifPresent(used::add);
                    if (row.reason().isPresent() == difference(table, row).isEmpty()) {
                        wrong.add(
                                Text.format(
                                        "%s: %s: difference%s, reason %s",
                                        table.title(),
                                        row.model(),
                                        difference(table, row),
                                        row.reason().orElse("none")));
                    }
                });
        assertEquals(List.of(), wrong);
        assertEquals(PAPERS.reasons().keySet(), used);
    }

    @Test
    void everyPublishedRecipeIsInATable() {
        Set<String> named = new TreeSet<>();
        forEachRow((table, row) -> named.add(row.name()));
        Set<String> published =
                Zoo.packaged().recipes().stream()
                        .filter(recipe -> recipe.publication().isPresent())
                        .map(Recipe::name)
                        .collect(Collectors.toCollection(TreeSet::new));
        published.removeAll(named);
        assertEquals(Set.of(), published);
    }

    private interface Visitor {
        void visit(Table table, Row row);
    }

    private static void forEachRow(Visitor visitor) {
        PAPERS.sources().values().stream()
                .flatMap(source -> source.tables().stream())
                .forEach(table -> table.rows().forEach(row -> visitor.visit(table, row)));
    }

    private static Counts counts(Table table, Row row) {
        Size size = new Size(table.size().get(1), table.size().get(0));
        if (!row.name().contains("/")) {
            return COUNTS.computeIfAbsent(
                    List.of(row.name(), size), key -> ofBackbone(row.name(), size));
        }
        ModelConfig config = MODELS.computeIfAbsent(row.name(), PapersTest::model);
        boolean multiplyAdds = row.published().containsKey("flops");
        return COUNTS.computeIfAbsent(
                List.of(config, size, multiplyAdds),
                key -> ofModel(row.name(), config, multiplyAdds, size));
    }

    /** Returns the model without stochastic depth, which costs nothing and differs by schedule. */
    private static ModelConfig model(String name) {
        RunConfig recipe =
                Configs.bind(
                        ConfigFile.load(CONFIGS.resolve(name + ".yaml"), List.of()),
                        RunConfig.class);
        return (name.contains("/resne") ? recipe : recipe.with("model.backbone.drop_path_rate=0"))
                .model();
    }

    private static int classes(String name) {
        return name.endsWith("_ade20k") ? 150 : name.endsWith("_imagenet") ? 1000 : 80;
    }

    private static Counts ofModel(
            String name, ModelConfig config, boolean multiplyAdds, Size size) {
        Model<?> model = config.build(Collections.nCopies(classes(name), "class"));
        long parameters =
                Gradients.trainable(model).values().stream()
                        .mapToLong(parameter -> parameter.getShape().size())
                        .sum();
        if (name.endsWith("_imagenet")) {
            BackboneSummary backbone = BackboneSummary.measure(name, config.backbone());
            parameters += backbone.parameters() - backbone.trainingParameters();
        }
        return new Counts(parameters, multiplyAdds ? model.multiplyAdds(size) : 0);
    }

    private static Counts ofBackbone(String name, Size size) {
        Backbone.Config config = VARIANTS.get(name);
        assertTrue(config != null, () -> "no variant " + name);
        BackboneSummary summary = BackboneSummary.measure(name, config, size);
        return new Counts(summary.classifierParameters(), summary.multiplyAdds());
    }

    /** Returns ours minus published, of the counts that differ by more than rounding. */
    private static String difference(Table table, Row row) {
        StringBuilder text = new StringBuilder();
        for (String column : COUNTED) {
            BigDecimal published = row.published().get(column);
            if (published != null) {
                Counts counts = counts(table, row);
                if (counts.rounded(column, published, 0).compareTo(published) != 0) {
                    BigDecimal delta = counts.rounded(column, published, 1).subtract(published);
                    text.append(text.length() == 0 ? "" : ", ")
                            .append(delta.signum() > 0 ? "+" : "")
                            .append(delta)
                            .append(' ')
                            .append(UNITS.get(column));
                }
            }
        }
        return text.toString();
    }

    private static String section(Source source) {
        String title =
                source.publication()
                        .website()
                        .map(site -> "[" + source.publication().title() + "](" + site + ")")
                        .orElse(source.publication().title());
        return "\n## "
                + title
                + "\n"
                + source.tables().stream().map(PapersTest::part).collect(Collectors.joining());
    }

    private static String part(Table table) {
        List<String> columns = table.columns();
        List<String> accuracies =
                columns.stream().filter(column -> !COUNTED.contains(column)).toList();
        List<String> header = new ArrayList<>(List.of("model", "recipe or variant"));
        boolean counted = false;
        for (String column : COUNTED) {
            if (columns.contains(column)) {
                counted = true;
                header.add(heading(column));
                header.add("ours");
            }
        }
        if (counted) {
            header.add("difference");
        }
        accuracies.forEach(column -> header.add(heading(column)));
        Set<String> reasons = new LinkedHashSet<>();
        List<List<String>> lines = new ArrayList<>(List.of(header));
        lines.add(Collections.nCopies(header.size(), "---"));
        table.rows().forEach(row -> lines.add(cells(table, row, accuracies, reasons)));
        StringBuilder text = new StringBuilder("\n### " + table.title() + "\n\n");
        lines.forEach(line -> text.append("| " + String.join(" | ", line) + " |\n"));
        int number = 0;
        for (String reason : reasons) {
            number++;
            text.append(number == 1 ? "\n" : "")
                    .append(number)
                    .append(". ")
                    .append(PAPERS.reasons().get(reason))
                    .append('\n');
        }
        Stream.of(table.note(), table.omitted().map(rows -> "Omitted: " + rows + "."))
                .flatMap(Optional::stream)
                .forEach(line -> text.append('\n').append(line).append('\n'));
        return text.toString();
    }

    private static String link(String name) {
        String code = "`" + name + "`";
        return name.contains("/") ? "[" + code + "](../configs/" + name + ".yaml)" : code;
    }

    private static String heading(String column) {
        int suffix = Math.max(column.indexOf("_scales"), column.indexOf("_test_dev"));
        return suffix < 0
                ? HEADINGS.get(column)
                : HEADINGS.get(column.substring(0, suffix))
                        + HEADINGS.get(column.substring(suffix));
    }

    private static List<String> cells(
            Table table, Row row, List<String> accuracies, Set<String> reasons) {
        List<String> cells = new ArrayList<>(List.of(row.model(), link(row.name())));
        boolean counted = false;
        for (String column : COUNTED) {
            if (table.columns().contains(column)) {
                counted = true;
                BigDecimal published = row.published().get(column);
                cells.add(published == null ? "" : published.toString());
                cells.add(
                        published == null
                                ? ""
                                : counts(table, row).rounded(column, published, 1).toString());
            }
        }
        if (counted) {
            row.reason().ifPresent(reasons::add);
            cells.add(
                    difference(table, row)
                            + row.reason()
                                    .map(
                                            key ->
                                                    " ("
                                                            + (List.copyOf(reasons).indexOf(key)
                                                                    + 1)
                                                            + ")")
                                    .orElse(""));
        }
        accuracies.forEach(
                column -> {
                    BigDecimal value = row.published().get(column);
                    cells.add(value == null ? "" : value.toString());
                });
        return cells;
    }
}

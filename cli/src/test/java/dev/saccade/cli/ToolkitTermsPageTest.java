package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.config.ToolkitTerms;
import dev.saccade.config.ToolkitTerms.Term;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.BatchAugment;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Transform;
import dev.saccade.heads.classification.ImageLoss;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.optimizers.Optimizer;
import dev.saccade.train.schedules.Schedule;

import org.junit.jupiter.api.Test;

import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Checks that the equivalents of other toolkits' terms exist, and the tables of the page. */
class ToolkitTermsPageTest {

    private static final ToolkitTerms TABLE = ToolkitTerms.ALL;
    private static final CommandLine SACCADE = new CommandLine(new Saccade());

    private static Stream<Term> withOurs(List<Term> rows) {
        return rows.stream().filter(row -> !row.saccade().isEmpty());
    }

    private static List<CommandSpec> commands() {
        return SACCADE.getSubcommands().values().stream()
                .map(CommandLine::getCommandSpec)
                .distinct()
                .toList();
    }

    @Test
    void listsEveryCommand() {
        withOurs(TABLE.commands())
                .forEach(
                        row ->
                                assertTrue(
                                        SACCADE.getSubcommands().containsKey(row.saccade()),
                                        row.saccade()));
    }

    @Test
    void listsEveryOption() {
        Set<String> labels =
                commands().stream()
                        .flatMap(command -> command.positionalParameters().stream())
                        .map(ArgSpec::paramLabel)
                        .collect(Collectors.toSet());
        withOurs(TABLE.options())
                .forEach(
                        row -> {
                            String name = row.saccade().replaceFirst(" .*", "");
                            assertTrue(
                                    labels.contains(name)
                                            || commands().stream()
                                                    .anyMatch(
                                                            each -> each.findOption(name) != null),
                                    row.saccade());
                            if (name.equals("--set") && !row.saccade().contains("KEY")) {
                                assertBinds(row.saccade().substring("--set ".length()));
                            }
                        });
    }

    @Test
    void listsEveryKeyAndValue() {
        Stream.of(TABLE.keys(), TABLE.values())
                .flatMap(ToolkitTermsPageTest::withOurs)
                .map(Term::saccade)
                .filter(ours -> !ours.startsWith("base="))
                .forEach(ToolkitTermsPageTest::assertBinds);
    }

    private static void assertBinds(String setting) {
        List<String> problems = new ArrayList<>();
        for (String name : List.of("retinanet/resnet18_fpn_bccd", "semantic_fpn/resnet18_camvid")) {
            try {
                Configs.bind(
                        Configs.withOverrides(
                                ConfigFile.bundled(name + ".yaml"),
                                List.of("epochs=20", "data.skip_type_keys=[random_flip]", setting),
                                RunConfig.class),
                        RunConfig.class);
                return;
            } catch (SaccadeException e) {
                problems.add(e.getMessage());
            }
        }
        assertEquals(List.of(), problems, setting);
    }

    @Test
    void termsAreUnambiguous() {
        for (List<Term> rows :
                List.of(TABLE.commands(), TABLE.options(), TABLE.keys(), TABLE.values())) {
            Set<String> seen = new HashSet<>();
            rows.stream()
                    .flatMap(row -> row.words().stream())
                    .forEach(word -> assertTrue(seen.add(word.toLowerCase(Locale.ROOT)), word));
            assertFalse(seen.isEmpty());
        }
        TABLE.commands().stream()
                .flatMap(row -> row.words().stream())
                .forEach(word -> assertFalse(SACCADE.getSubcommands().containsKey(word), word));
    }

    @Test
    void pageHasTheTable() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "migrating.md"));
        for (List<Term> rows : List.of(TABLE.commands(), TABLE.options(), TABLE.keys())) {
            String expected =
                    rows.stream()
                            .filter(ToolkitTermsPageTest::isShown)
                            .map(ToolkitTermsPageTest::row)
                            .collect(Collectors.joining());
            assertTrue(page.contains(expected), () -> expected + "expected in the page");
        }
    }

    @Test
    void classificationSettingsExist() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "migrating.md"));
        String section =
                page.replaceFirst("(?s).*## Find a setting for image classification", "")
                        .replaceFirst("(?s)\n## .*", "");
        Set<String> types =
                Stream.of(
                                Transform.class,
                                BatchAugment.class,
                                Dataset.Config.class,
                                ImageLoss.class,
                                Optimizer.Config.class,
                                Schedule.class)
                        .flatMap(kind -> Configs.registered(kind).keySet().stream())
                        .collect(Collectors.toSet());
        List<String> rows = section.lines().filter(row -> row.startsWith("| `--")).toList();
        assertTrue(rows.size() > 10, section);
        for (String row : rows) {
            String ours = row.substring(row.lastIndexOf('|', row.length() - 2));
            Matcher name = Pattern.compile("type: (\\w+)|`(\\w+)` (?:and|in) ").matcher(ours);
            while (name.find()) {
                String type = name.group(1) == null ? name.group(2) : name.group(1);
                assertTrue(types.contains(type), type + " in " + row);
            }
        }
    }

    private static boolean isShown(Term row) {
        return Stream.of(row.ultralytics(), row.openmmlab(), row.detectron2(), row.torchvision())
                .anyMatch(theirs -> !theirs.isEmpty());
    }

    private static String row(Term row) {
        String ours = row.saccade().isEmpty() ? row.note() : code(ours(row));
        return Stream.of(row.ultralytics(), row.openmmlab(), row.detectron2(), row.torchvision())
                .map(
                        theirs ->
                                theirs.stream()
                                        .map(ToolkitTermsPageTest::code)
                                        .collect(Collectors.joining(", ")))
                .collect(Collectors.joining(" | ", "| ", " | " + ours + " |\n"));
    }

    private static String ours(Term row) {
        return row.saccade().startsWith("--") ? row.saccade() : row.key();
    }

    private static String code(String text) {
        return "`" + text + "`";
    }
}

package dev.saccade.report.runs;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.collect.ImmutableList;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigWriter;
import dev.saccade.core.Count;
import dev.saccade.report.Example;
import dev.saccade.report.Examples;
import dev.saccade.report.ReportData;
import dev.saccade.report.ReportData.DataSummary;
import dev.saccade.report.Section;
import dev.saccade.report.TextTable;
import dev.saccade.report.runs.RunMetrics.Measured;
import dev.saccade.train.checkpoint.RunFolder;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The page of several runs side by side. */
public final class RunComparison {

    private static final String NOT_SET = "–";

    private final List<RunReport> runs;
    private final List<String> names;

    /** Compares runs. */
    public RunComparison(List<RunReport> runs) {
        this.runs = ImmutableList.copyOf(runs);
        Map<String, Long> often =
                runs.stream()
                        .collect(Collectors.groupingBy(RunReport::name, Collectors.counting()));
        this.names =
                runs.stream()
                        .map(
                                run ->
                                        often.get(run.name()) > 1
                                                ? run.folder().toString()
                                                : run.name())
                        .toList();
    }

    /** Returns all that the page shows. */
    public ReportData data() {
        return new ReportData(
                new ReportData.Header(
                        String.join(" · ", names),
                        "Comparison of " + Count.of(runs.size(), "run"),
                        List.of()),
                List.of(figures(), settings()),
                examples(),
                RunCurves.of(names, runs.stream().map(RunReport::events).toList()),
                List.of(),
                new DataSummary(List.of(), List.of()),
                new ReportData.Setup("", List.of()));
    }

    /** Returns the headline figures of each run, a column each. */
    private Section figures() {
        List<Map<String, String>> columns = runs.stream().map(RunComparison::headline).toList();
        return new Section(
                "Results",
                unequal()
                        + "Metrics of the best checkpoints on validation images. Latency depends on"
                        + " the machine and its load during the evaluation; compare under equal"
                        + " conditions with ./saccade bench model.",
                table("Metric", columns, keys(columns), "n/a"));
    }

    private String unequal() {
        long held =
                runs.stream()
                        .flatMap(run -> run.figures().stream())
                        .map(figures -> figures.data().facts())
                        .map(facts -> facts.stream().filter(f -> f.name().equals("val")).toList())
                        .distinct()
                        .count();
        return held > 1 ? "Evaluated on different images: these metrics are not comparable. " : "";
    }

    private static List<String> keys(List<Map<String, String>> columns) {
        return columns.stream().flatMap(column -> column.keySet().stream()).distinct().toList();
    }

    /** Returns a table with a row for each key and a column for each run. */
    private TextTable table(
            String head, List<Map<String, String>> columns, List<String> keys, String none) {
        return new TextTable(
                Stream.concat(Stream.of(head), names.stream()).toList(),
                keys.stream()
                        .map(
                                key ->
                                        Stream.concat(Stream.of(key), values(key, columns, none))
                                                .toList())
                        .toList());
    }

    private static Stream<String> values(
            String key, List<Map<String, String>> columns, String none) {
        return columns.stream().map(column -> column.getOrDefault(key, none));
    }

    private static Map<String, String> headline(RunReport run) {
        Map<String, String> figures = new LinkedHashMap<>();
        Optional<Measured> measured = run.measured();
        measured.ifPresent(
                m -> {
                    m.task().headline().forEach(fact -> figures.put(fact.name(), fact.value()));
                    figures.put("Parameters", RunReport.millions(m.weights().parameters()));
                    figures.put("Latency", RunReport.latency(m).value());
                });
        run.training()
                .ifPresent(fact -> figures.put(fact.name(), fact.value() + ", " + fact.note()));
        return figures;
    }

    /** Returns the settings that are not the same in all runs. */
    private Section settings() {
        List<Map<String, String>> configs = runs.stream().map(RunComparison::settings).toList();
        List<String> differing =
                keys(configs).stream()
                        .filter(key -> values(key, configs, NOT_SET).distinct().count() > 1)
                        .toList();
        return new Section(
                "Different settings",
                differing.isEmpty() ? "" : "All other settings are equal.",
                table("Setting", configs, differing, NOT_SET));
    }

    /** Returns the values of a config by their dotted keys. */
    private static Map<String, String> settings(RunReport run) {
        String json =
                ConfigWriter.json(ConfigFile.load(new RunFolder(run.folder()).config(), List.of()));
        Map<String, String> values = new LinkedHashMap<>();
        JsonNode config = RunEvents.parse(json).path("config");
        flatten("", config, values);
        return values;
    }

    private static void flatten(String key, JsonNode value, Map<String, String> values) {
        if (value.isObject()) {
            value.properties()
                    .forEach(
                            entry ->
                                    flatten(
                                            key.isEmpty()
                                                    ? entry.getKey()
                                                    : key + "." + entry.getKey(),
                                            entry.getValue(),
                                            values));
        } else if (!value.isNull()) {
            values.put(key, value.isTextual() ? value.asText() : value.toString());
        }
    }

    /** Returns the images that all runs show, if they have the same task and classes. */
    private Examples examples() {
        List<Examples> all =
                runs.stream()
                        .flatMap(run -> run.measured().stream())
                        .map(measured -> measured.task().examples())
                        .toList();
        if (all.size() < runs.size()
                || all.stream().map(Examples::classes).distinct().count() > 1
                || all.stream().map(RunComparison::kind).distinct().count() > 1) {
            return Examples.none(names);
        }
        Examples first = all.get(0);
        List<Map<String, Example>> byName = all.stream().map(RunComparison::byName).toList();
        List<List<Example>> shared =
                byName.get(0).keySet().stream()
                        .filter(name -> byName.stream().allMatch(run -> run.containsKey(name)))
                        .map(name -> byName.stream().map(run -> run.get(name)).toList())
                        .toList();
        return new Examples(shared, names, first.classes(), first.threshold(), first.all());
    }

    private static Optional<Class<?>> kind(Examples examples) {
        return examples.pictures().stream().findFirst().map(row -> row.get(0).getClass());
    }

    private static Map<String, Example> byName(Examples examples) {
        Map<String, Example> byName = new LinkedHashMap<>();
        examples.pictures().forEach(row -> byName.putIfAbsent(row.get(0).name(), row.get(0)));
        return byName;
    }
}

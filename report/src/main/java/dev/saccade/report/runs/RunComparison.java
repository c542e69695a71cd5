package dev.saccade.report.runs;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.Lists;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigWriter;
import dev.saccade.core.Count;
import dev.saccade.report.Charts;
import dev.saccade.report.Example;
import dev.saccade.report.Examples;
import dev.saccade.report.Report;
import dev.saccade.report.Section;
import dev.saccade.report.TextTable;
import dev.saccade.report.runs.RunMetrics.CheckpointMetrics;
import dev.saccade.train.checkpoint.RunFolder;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** Compares runs in one report. */
public final class RunComparison {

    private static final String NOT_SET = "–";

    private final List<RunReport> runs;
    private final List<String> names;

    public RunComparison(List<RunReport> runs) {
        this.runs = ImmutableList.copyOf(runs);
        List<String> stems = runs.stream().map(RunReport::name).toList();
        this.names = new ArrayList<>();
        for (RunReport run : runs) {
            boolean unique = Collections.frequency(stems, run.name()) == 1;
            names.add(unique ? run.name() : run.folder().toString());
        }
    }

    public Report report() {
        List<RunEvents> events = runs.stream().map(RunReport::events).toList();
        return new Report(
                String.join(" · ", names),
                "Comparison of " + Count.of(runs.size(), "run"),
                List.of(),
                List.of(
                        results(),
                        settings(),
                        examples().section(),
                        new Section("Training", "", Charts.of(RunCurves.of(names, events)))));
    }

    /** Returns a section with a column of headline metrics per run. */
    private Section results() {
        long sets =
                runs.stream()
                        .flatMap(run -> run.metrics().stream())
                        .map(metrics -> metrics.data().facts())
                        .map(facts -> facts.stream().filter(f -> f.name().equals("val")).toList())
                        .distinct()
                        .count();
        List<Map<String, String>> columns = runs.stream().map(RunComparison::headline).toList();
        return new Section(
                "Results",
                (sets > 1
                                ? "Evaluated on different images: these metrics are not comparable. "
                                : "")
                        + "Metrics of the best checkpoints on the validation set."
                        + " Latency depends on the machine and its load; compare models"
                        + " under equal conditions with ./saccade bench model.",
                table("Metric", columns, values -> true, "n/a"));
    }

    /** Returns a table of the keys whose values pass a test; {@code none} fills missing values. */
    private TextTable table(
            String head,
            List<Map<String, String>> columns,
            Predicate<List<String>> suits,
            String none) {
        Set<String> keys = new LinkedHashSet<>();
        columns.forEach(column -> keys.addAll(column.keySet()));
        List<List<String>> rows = new ArrayList<>();
        for (String key : keys) {
            List<String> values = columns.stream().map(c -> c.getOrDefault(key, none)).toList();
            if (suits.test(values)) {
                rows.add(Lists.asList(key, values.toArray(String[]::new)));
            }
        }
        return new TextTable(Lists.asList(head, names.toArray(String[]::new)), rows);
    }

    private static Map<String, String> headline(RunReport run) {
        Map<String, String> values = new LinkedHashMap<>();
        Optional<CheckpointMetrics> measured = run.checkpoint();
        if (measured.isPresent()) {
            CheckpointMetrics m = measured.get();
            m.task().headline().forEach(fact -> values.put(fact.name(), fact.value()));
            values.put("Parameters", RunReport.millions(m.weights().parameters()));
            values.put("Latency", RunReport.latency(m).value());
        }
        run.training()
                .ifPresent(fact -> values.put(fact.name(), fact.value() + ", " + fact.note()));
        return values;
    }

    private Section settings() {
        List<Map<String, String>> configs = runs.stream().map(RunComparison::settings).toList();
        TextTable different =
                table(
                        "Setting",
                        configs,
                        values -> values.stream().distinct().count() > 1,
                        NOT_SET);
        String lead = different.isEmpty() ? "" : "All other settings are equal.";
        return new Section("Different settings", lead, different);
    }

    /** Returns the values of a config by dotted key. */
    private static Map<String, String> settings(RunReport run) {
        String json =
                ConfigWriter.json(ConfigFile.load(new RunFolder(run.folder()).config(), List.of()));
        Map<String, String> values = new LinkedHashMap<>();
        flatten("", RunEvents.parse(json).path("config"), values);
        return values;
    }

    private static void flatten(String prefix, JsonNode value, Map<String, String> values) {
        for (Map.Entry<String, JsonNode> entry : value.properties()) {
            String key = prefix + entry.getKey();
            if (entry.getValue().isObject()) {
                flatten(key + ".", entry.getValue(), values);
            } else if (!entry.getValue().isNull()) {
                JsonNode single = entry.getValue();
                values.put(key, single.isTextual() ? single.asText() : single.toString());
            }
        }
    }

    /** Returns images that all runs share; none if a run has none or if tasks or classes differ. */
    private Examples examples() {
        List<Examples> all =
                runs.stream()
                        .flatMap(run -> run.checkpoint().stream())
                        .map(measured -> measured.task().examples())
                        .toList();
        if (all.size() < runs.size()
                || all.stream().map(Examples::classes).distinct().count() > 1
                || all.stream().map(RunComparison::kind).distinct().count() > 1) {
            return Examples.none(names);
        }
        List<Map<String, Example>> byName = all.stream().map(RunComparison::byName).toList();
        List<List<Example>> shared = new ArrayList<>();
        for (String name : byName.get(0).keySet()) {
            if (byName.stream().allMatch(run -> run.containsKey(name))) {
                shared.add(byName.stream().map(run -> run.get(name)).toList());
            }
        }
        Examples first = all.get(0);
        return new Examples(shared, names, first.classes(), first.threshold(), first.all());
    }

    private static Optional<Class<?>> kind(Examples examples) {
        return examples.rows().stream().findFirst().map(row -> row.get(0).getClass());
    }

    private static Map<String, Example> byName(Examples examples) {
        Map<String, Example> byName = new LinkedHashMap<>();
        examples.rows().forEach(row -> byName.putIfAbsent(row.get(0).name(), row.get(0)));
        return byName;
    }
}

package dev.saccade.cli;

import dev.saccade.report.Examples;
import dev.saccade.report.ReportData.Fact;
import dev.saccade.report.Section;

import java.util.List;

/**
 * What a report says about how well a task is done; the rest of it is the same for all tasks.
 *
 * @param headline the figures that a reader looks for first
 * @param progress the title of the curves of metrics over the course of the training
 * @param metrics the names of these metrics, where they were measured
 * @param examples held-back photographs with what is on them and what was predicted
 * @param sections tables, charts and maps of what was measured
 */
record TaskFigures(
        List<Fact> headline,
        String progress,
        List<String> metrics,
        Examples examples,
        List<Section> sections) {}

package dev.saccade.report.runs;

import dev.saccade.report.Examples;
import dev.saccade.report.FactList.Fact;
import dev.saccade.report.Section;

import java.util.List;

/** The part of a report that depends on the task. */
public record TaskMetrics(List<Fact> headline, Examples examples, List<Section> sections) {}

package dev.saccade.report.runs;

import dev.saccade.report.Examples;
import dev.saccade.report.ReportData.Fact;
import dev.saccade.report.Section;

import java.util.List;

/**
 * What a report says about how well a task is done; the rest of it is the same for all tasks.
 *
 * @param headline the figures that a reader looks for first
 * @param examples held-back photographs with what is on them and what was predicted
 * @param sections tables, charts and maps of what was measured
 */
public record TaskMetrics(List<Fact> headline, Examples examples, List<Section> sections) {

    /** How many confusions are listed. */
    public static final int CONFUSIONS = 10;
}

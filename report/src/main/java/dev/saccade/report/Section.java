package dev.saccade.report;

import com.google.common.collect.ImmutableList;

import java.util.List;

/**
 * A part of a report about what was measured. Tables without rows are left out of the page, and so
 * is a section in which nothing is left.
 *
 * @param title what was measured
 * @param lead a sentence or two on how to read it, or empty
 * @param tables the tables, which come first
 * @param charts the charts below them
 * @param maps what was taken for what, at the end
 */
public record Section(
        String title,
        String lead,
        List<ShareTable> tables,
        List<LineChart> charts,
        List<HeatMap> maps) {

    /** Copies the lists; leaves out empty tables. */
    public Section {
        tables =
                tables.stream()
                        .filter(table -> !table.rows().isEmpty())
                        .collect(ImmutableList.toImmutableList());
        charts = ImmutableList.copyOf(charts);
        maps = ImmutableList.copyOf(maps);
    }

    /** Returns whether there is nothing in it. */
    boolean isEmpty() {
        return tables.isEmpty() && charts.isEmpty() && maps.isEmpty();
    }
}

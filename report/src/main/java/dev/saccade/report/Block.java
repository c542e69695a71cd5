package dev.saccade.report;

/** A part of a {@link Section}: a table, charts, a map of counts, facts or commands. */
public sealed interface Block permits Charts, Commands, FactList, HeatMap, ShareTable, TextTable {

    /** Returns whether there is nothing in it; it is left out of the page then. */
    boolean isEmpty();

    /** Writes it. */
    void write(Markup out);
}

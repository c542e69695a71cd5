package dev.saccade.cli.report;

import java.util.Locale;
import java.util.OptionalDouble;

/** Writes tables whose numbers carry bars. */
final class ShareTableWriter {

    private ShareTableWriter() {}

    /**
     * Writes a table.
     *
     * @param kind how it is styled
     * @param coloured whether each row has the colour of its place, as the classes have
     */
    static void write(Markup out, ShareTable table, String kind, boolean coloured) {
        out.open("table", "class", kind).open("thead").open("tr");
        for (String head : table.heads()) {
            out.leaf("th", head, "scope", "col");
        }
        out.close().close().open("tbody");
        for (int i = 0; i < table.rows().size(); i++) {
            ShareTable.Row row = table.rows().get(i);
            out.open("tr");
            if (coloured) {
                out.leaf("th", row.name(), "scope", "row", "style", Report.colour(i));
            } else {
                out.leaf("th", row.name(), "scope", "row");
            }
            out.leaf("td", row.note(), "class", "meaning");
            row.shares().forEach(share -> write(out, share));
            out.close();
        }
        out.close().close();
    }

    private static void write(Markup out, OptionalDouble share) {
        if (share.isEmpty() || Double.isNaN(share.getAsDouble())) {
            out.leaf("td", "n/a", "class", "share none");
            return;
        }
        String width = String.format(Locale.ROOT, "--share:%.3f", share.getAsDouble());
        String number = String.format(Locale.ROOT, "%.3f", share.getAsDouble());
        out.open("td", "class", "share", "style", width).leaf("span", number).close();
    }
}

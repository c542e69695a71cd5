package dev.saccade.report;

import dev.saccade.core.Text;
import dev.saccade.models.draw.ClassColors;

import java.util.List;
import java.util.OptionalDouble;

/** Writes tables whose numbers carry bars. */
final class ShareTableWriter {

    private ShareTableWriter() {}

    /** Writes a table. */
    static void write(Markup out, ShareTable table) {
        List<Integer> colors =
                ClassColors.of(table.rows().stream().map(ShareTable.Row::name).toList());
        out.open("div", "class", "scroll");
        out.open("table", "class", table.ofClasses() ? "classes" : "metrics")
                .open("thead")
                .open("tr");
        for (String head : table.heads()) {
            out.leaf("th", head, "scope", "col");
        }
        out.close().close().open("tbody");
        for (int i = 0; i < table.rows().size(); i++) {
            ShareTable.Row row = table.rows().get(i);
            out.open("tr");
            if (table.ofClasses()) {
                out.leaf("th", row.name(), "scope", "row", "style", Report.style(colors.get(i)));
            } else {
                out.leaf("th", row.name(), "scope", "row");
            }
            out.leaf("td", row.note(), "class", "meaning");
            row.shares().forEach(share -> write(out, share));
            out.close();
        }
        out.close().close().close();
    }

    private static void write(Markup out, OptionalDouble share) {
        if (share.isEmpty() || Double.isNaN(share.getAsDouble())) {
            out.leaf("td", "n/a", "class", "share none");
            return;
        }
        String width = Text.format("--share:%.3f", share.getAsDouble());
        String number = Text.format("%.3f", share.getAsDouble());
        out.open("td", "class", "share", "style", width).leaf("span", number).close();
    }
}

package dev.saccade.report;

import dev.saccade.core.Text;
import dev.saccade.models.draw.ClassColors;

import java.util.List;

/** A table of numbers from 0 to 1 with bars; {@code ofClasses} adds class colors to names. */
public record FractionTable(List<String> heads, List<Row> rows, boolean ofClasses)
        implements Block {

    public FractionTable(List<String> heads, List<Row> rows) {
        this(heads, rows, false);
    }

    @Override
    public boolean isEmpty() {
        return rows.isEmpty();
    }

    @Override
    public void write(Markup out) {
        List<Integer> colors = ClassColors.of(rows.stream().map(Row::name).toList());
        out.openTable(ofClasses ? "classes" : "metrics", heads);
        for (int i = 0; i < rows.size(); i++) {
            Row row = rows.get(i);
            out.open("tr");
            if (ofClasses) {
                out.leaf("th", row.name(), "scope", "row", "style", Report.style(colors.get(i)));
            } else {
                out.leaf("th", row.name(), "scope", "row");
            }
            out.leaf("td", row.note(), "class", "meaning");
            row.values().forEach(fraction -> write(out, fraction));
            out.close();
        }
        out.close().close().close();
    }

    private static void write(Markup out, double fraction) {
        if (fraction >= 0) {
            String number = Text.format("%.3f", fraction);
            out.open("td", "class", "share", "style", "--share:" + number);
            out.leaf("span", number).close();
        } else {
            out.leaf("td", "n/a", "class", "share none");
        }
    }

    /** A row; {@code note} is an explanation or a count. Undefined values are negative or NaN. */
    public record Row(String name, String note, List<Double> values) {}
}

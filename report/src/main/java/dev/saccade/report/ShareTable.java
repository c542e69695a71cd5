package dev.saccade.report;

import dev.saccade.core.Text;
import dev.saccade.models.draw.ClassColors;

import java.util.List;

/**
 * A table of numbers between 0 and 1, each with a bar of its length.
 *
 * @param heads the heads of all columns: the name, the note, and those of the numbers
 * @param rows from top to bottom
 * @param ofClasses whether the rows are the classes in the order of their labels, shown in the
 *     colors that they have in pictures
 */
public record ShareTable(List<String> heads, List<Row> rows, boolean ofClasses) implements Block {

    /** Makes a table of anything but classes. */
    public ShareTable(List<String> heads, List<Row> rows) {
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
            row.shares().forEach(share -> write(out, share));
            out.close();
        }
        out.close().close().close();
    }

    private static void write(Markup out, double share) {
        if (share >= 0) {
            String number = Text.format("%.3f", share);
            out.open("td", "class", "share", "style", "--share:" + number);
            out.leaf("span", number).close();
        } else {
            out.leaf("td", "n/a", "class", "share none");
        }
    }

    /**
     * A row.
     *
     * @param name first cell
     * @param note explanation or count
     * @param shares numbers; negative or NaN if they are undefined
     */
    public record Row(String name, String note, List<Double> shares) {}
}

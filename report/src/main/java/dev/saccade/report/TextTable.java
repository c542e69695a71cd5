package dev.saccade.report;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;

import java.util.List;

/**
 * A table of texts, the first column of which is read as names.
 *
 * @param heads the heads of all columns
 * @param rows from top to bottom, a text for each head
 */
public record TextTable(List<String> heads, List<List<String>> rows) implements Block {

    /** Copies the lists, and checks that there is a text for each head. */
    public TextTable {
        heads = ImmutableList.copyOf(heads);
        rows = rows.stream().map(ImmutableList::copyOf).collect(ImmutableList.toImmutableList());
        int columns = heads.size();
        checkArgument(rows.stream().allMatch(row -> row.size() == columns), "%s, %s", heads, rows);
    }

    @Override
    public boolean isEmpty() {
        return rows.isEmpty();
    }

    @Override
    public void write(Markup out) {
        out.openTable("texts", heads);
        for (List<String> row : rows) {
            out.open("tr").leaf("th", row.get(0), "scope", "row");
            row.stream().skip(1).forEach(text -> out.leaf("td", text));
            out.close();
        }
        out.close().close().close();
    }
}

package dev.saccade.report;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;

import java.util.List;

/** A table of text; the first column has the row names. */
public record TextTable(List<String> heads, List<List<String>> rows) implements Block {

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

package dev.saccade.report;

import dev.saccade.report.ReportData.Fact;

import java.util.List;

/**
 * Things to know, each with its name.
 *
 * @param facts from top to bottom
 */
public record FactList(List<Fact> facts) implements Block {

    @Override
    public boolean isEmpty() {
        return facts.isEmpty();
    }

    @Override
    public void write(Markup out) {
        out.open("dl", "class", "facts");
        for (Fact fact : facts) {
            out.open("div").leaf("dt", fact.name()).open("dd").text(fact.value());
            if (!fact.note().isEmpty()) {
                out.text(" ").leaf("span", fact.note(), "class", "note");
            }
            out.close().close();
        }
        out.close();
    }
}

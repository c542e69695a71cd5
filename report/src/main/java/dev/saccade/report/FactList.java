package dev.saccade.report;

import dev.saccade.core.Text;

import java.util.List;

/** Names and values, one below the other. */
public record FactList(List<Fact> facts) implements Block {

    /**
     * A value with its name.
     *
     * @param value formatted value
     * @param note explanation, or empty
     */
    public record Fact(String name, String value, String note) {

        /** Creates a fact without a note. */
        public Fact(String name, String value) {
            this(name, value, "");
        }

        /** Formats a fraction from 0 to 1; negative fractions are undefined. */
        public static Fact ofShare(String name, double share, String note) {
            return new Fact(name, share < 0 ? "n/a" : Text.format("%.3f", share), note);
        }
    }

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

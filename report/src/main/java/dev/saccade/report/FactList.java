package dev.saccade.report;

import dev.saccade.core.Text;

import java.util.List;

/** Names and values, one per line. */
public record FactList(List<Fact> facts) implements Block {

    /** A named value with an explanation, which may be empty. */
    public record Fact(String name, String value, String note) {

        public Fact(String name, String value) {
            this(name, value, "");
        }

        /** Returns a fact with a fraction from 0 to 1, or "n/a" if the fraction is negative. */
        public static Fact ofFraction(String name, double fraction, String note) {
            return new Fact(name, fraction < 0 ? "n/a" : Text.format("%.3f", fraction), note);
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

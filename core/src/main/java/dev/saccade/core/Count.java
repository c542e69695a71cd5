package dev.saccade.core;

import java.util.List;

/** Formats counts as English text. */
public final class Count {

    private Count() {}

    /** Formats {@code 1 class} or {@code 3 classes}, for nouns with a regular plural. */
    public static String of(long number, String noun) {
        if (number == 1) {
            return "1 " + noun;
        }
        boolean takesEs = noun.matches(".*(s|x|z|[^o]ch|sh)");
        return number + " " + noun + (takesEs ? "es" : "s");
    }

    /** Joins the first names with commas and appends the number of remaining names. */
    public static String first(List<String> names, int most) {
        String first = String.join(", ", names.subList(0, Math.min(most, names.size())));
        int more = names.size() - most;
        return more > 0 ? first + " and " + more + " more" : first;
    }
}

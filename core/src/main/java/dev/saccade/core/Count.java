package dev.saccade.core;

import java.util.List;

/** Formats counts as English text. */
public final class Count {

    private Count() {}

    /** Returns text such as {@code 1 class} or {@code 3 classes}; appends only -s or -es. */
    public static String of(long number, String noun) {
        if (number == 1) {
            return "1 " + noun;
        }
        boolean takesEs = noun.matches(".*(s|x|z|[^o]ch|sh)");
        return number + " " + noun + (takesEs ? "es" : "s");
    }

    /** Joins the first {@code most} names and counts the rest: {@code a, b and 3 more}. */
    public static String first(List<String> names, int most) {
        String first = String.join(", ", names.subList(0, Math.min(most, names.size())));
        int more = names.size() - most;
        return more > 0 ? first + " and " + more + " more" : first;
    }
}

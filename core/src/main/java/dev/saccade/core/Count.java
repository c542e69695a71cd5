package dev.saccade.core;

import java.util.List;

/** Counts in English text. */
public final class Count {

    private Count() {}

    /**
     * Returns a number and what is counted, such as {@code 1 class} or {@code 3 classes}.
     *
     * @param noun what one of them is called; its plural must be regular
     */
    public static String of(long number, String noun) {
        if (number == 1) {
            return "1 " + noun;
        }
        boolean hisses = noun.matches(".*(s|x|z|[^o]ch|sh)");
        return number + " " + noun + (hisses ? "es" : "s");
    }

    /** Returns the first names, separated by commas, and the number of the others. */
    public static String first(List<String> names, int most) {
        String first = String.join(", ", names.subList(0, Math.min(most, names.size())));
        int more = names.size() - most;
        return more > 0 ? first + " and " + more + " more" : first;
    }
}

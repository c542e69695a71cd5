package dev.saccade.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Suggests known names for misspelled names. */
public final class Suggestions {

    private Suggestions() {}

    /**
     * Returns the candidate with the smallest edit distance, if it is similar; else the longest
     * candidate that the name starts with ({@code GIoULoss}: {@code giou}). Ignores case and
     * underscores.
     */
    public static Optional<String> find(String name, Collection<String> candidates) {
        int tolerance = Math.max(2, name.length() / 3);
        String letters = letters(name);
        return candidates.stream()
                .filter(candidate -> distance(letters, letters(candidate)) <= tolerance)
                .min(Comparator.comparingInt(each -> distance(letters, letters(each))))
                .or(
                        () ->
                                candidates.stream()
                                        .filter(each -> letters.startsWith(letters(each)))
                                        .max(Comparator.comparingInt(String::length)));
    }

    /** Returns all similar candidates with the smallest edit distance, at most {@code max}. */
    public static List<String> findAll(String name, Collection<String> candidates, int max) {
        String letters = letters(name);
        return find(name, candidates)
                .map(nearest -> distance(letters, letters(nearest)))
                .map(
                        fewest ->
                                candidates.stream()
                                        .filter(each -> distance(letters, letters(each)) == fewest)
                                        .limit(max)
                                        .toList())
                .orElse(List.of());
    }

    /** Returns {@code ; did you mean NAME?}, or an empty string. */
    public static String suggestion(String name, Collection<String> candidates) {
        return find(name, candidates).map(near -> "; did you mean " + near + "?").orElse("");
    }

    private static String letters(String name) {
        return name.replace("_", "").toLowerCase(Locale.ROOT);
    }

    /** Returns the edit distance; swapping two neighboring letters counts once. */
    private static int distance(String a, String b) {
        int[] beforeLast = new int[b.length() + 1];
        int[] last = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            last[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int[] row = new int[b.length() + 1];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int substitution = last[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(substitution, 1 + Math.min(last[j], row[j - 1]));
                if (i > 1
                        && j > 1
                        && a.charAt(i - 1) == b.charAt(j - 2)
                        && a.charAt(i - 2) == b.charAt(j - 1)) {
                    row[j] = Math.min(row[j], 1 + beforeLast[j - 2]);
                }
            }
            beforeLast = last;
            last = row;
        }
        return last[b.length()];
    }
}

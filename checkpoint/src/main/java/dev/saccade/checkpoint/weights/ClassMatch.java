package dev.saccade.checkpoint.weights;

import dev.saccade.core.Count;
import dev.saccade.core.Text;

import java.text.Normalizer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/**
 * Classes of a model matched by name with the classes of a checkpoint. Names that differ only in
 * case, spaces, hyphens or underscores match where this is unambiguous.
 */
final class ClassMatch {

    private static final int MAX_NAMES = 10;

    private final List<String> classes;
    private final List<String> theirs;
    private final int[] places;

    private ClassMatch(List<String> classes, List<String> theirs, int[] places) {
        this.classes = classes;
        this.theirs = theirs;
        this.places = places;
    }

    static ClassMatch of(List<String> classes, List<String> theirs) {
        Map<String, Integer> exact = unique(theirs, name -> name);
        Map<String, Integer> similar = unique(theirs, ClassMatch::simplified);
        Map<String, Integer> own = unique(classes, ClassMatch::simplified);
        int[] places = new int[classes.size()];
        for (int i = 0; i < places.length; i++) {
            String simple = simplified(classes.get(i));
            Integer place = exact.get(classes.get(i));
            if (place == null && own.containsKey(simple)) {
                place = similar.get(simple);
            }
            places[i] = place == null ? -1 : place;
        }
        return new ClassMatch(classes, theirs, places);
    }

    private static Map<String, Integer> unique(List<String> names, UnaryOperator<String> key) {
        Map<String, Integer> unique = new HashMap<>();
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < names.size(); i++) {
            String name = key.apply(names.get(i));
            unique.put(name, i);
            if (!seen.add(name)) {
                unique.remove(name);
            }
        }
        return unique;
    }

    private static String simplified(String name) {
        String composed = Normalizer.normalize(name, Normalizer.Form.NFKC);
        return composed.toLowerCase(Locale.ROOT).replaceAll("[\\s_-]+", " ").strip();
    }

    /** Returns the place of a class in the checkpoint; -1 if it has no such class. */
    int place(int label) {
        return places[label];
    }

    /** Returns whether both have the same classes in the same order. */
    boolean isIdentity() {
        return classes.size() == theirs.size()
                && IntStream.range(0, places.length).allMatch(i -> places[i] == i);
    }

    /** Returns whether no class matches. */
    boolean isNone() {
        return IntStream.of(places).allMatch(place -> place < 0);
    }

    /** Returns lines for the load report; none if all names are equal and in order. */
    List<String> describe() {
        List<String> lines = new ArrayList<>();
        List<String> spelled = new ArrayList<>();
        List<String> absent = new ArrayList<>();
        for (int i = 0; i < places.length; i++) {
            String name = classes.get(i);
            if (places[i] < 0) {
                absent.add(name);
            } else if (!theirs.get(places[i]).equals(name)) {
                spelled.add(name + " = " + theirs.get(places[i]));
            }
        }
        if (!isIdentity()) {
            lines.add(
                    Text.format(
                            "classes matched by name: %d of %d%s",
                            places.length - absent.size(),
                            places.length,
                            isInOrder() ? "" : ", in another order in the checkpoint"));
        }
        if (!spelled.isEmpty()) {
            lines.add("classes spelled differently: " + Count.first(spelled, MAX_NAMES));
        }
        if (!absent.isEmpty()) {
            lines.add(
                    "classes not in the checkpoint, initialized from scratch: "
                            + Count.first(absent, MAX_NAMES));
        }
        return lines;
    }

    private boolean isInOrder() {
        int[] found = IntStream.of(places).filter(place -> place >= 0).toArray();
        return IntStream.range(1, found.length).allMatch(i -> found[i - 1] < found[i]);
    }
}

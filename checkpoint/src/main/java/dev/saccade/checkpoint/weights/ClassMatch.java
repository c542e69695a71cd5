package dev.saccade.checkpoint.weights;

import com.google.common.collect.Comparators;

import dev.saccade.core.Count;
import dev.saccade.core.Text;

import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/**
 * Classes of a model matched by name with the classes of a checkpoint; case, spaces, hyphens and
 * underscores are ignored where unambiguous.
 *
 * @param places for each class, its index in the checkpoint; -1 if missing
 */
record ClassMatch(List<String> classes, List<String> theirs, List<Integer> places) {

    private static final int MAX_NAMES = 10;

    static ClassMatch of(List<String> classes, List<String> theirs) {
        Map<String, Integer> exact = unique(theirs, name -> name);
        Map<String, Integer> similar = unique(theirs, ClassMatch::simplified);
        Map<String, Integer> own = unique(classes, ClassMatch::simplified);
        List<Integer> places = new ArrayList<>();
        for (String name : classes) {
            String simple = simplified(name);
            Integer place = exact.get(name);
            if (place == null && own.containsKey(simple)) {
                place = similar.get(simple);
            }
            places.add(place == null ? -1 : place);
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

    /** Returns the index of a class in the checkpoint; -1 if missing. */
    int place(int label) {
        return places.get(label);
    }

    boolean isIdentity() {
        return classes.size() == theirs.size()
                && IntStream.range(0, places.size()).allMatch(i -> places.get(i) == i);
    }

    boolean isNone() {
        return places.stream().allMatch(place -> place < 0);
    }

    /** Returns lines for the load report; empty if all names are equal and in order. */
    List<String> describe() {
        List<String> lines = new ArrayList<>();
        List<String> spelled = new ArrayList<>();
        List<String> absent = new ArrayList<>();
        for (int i = 0; i < places.size(); i++) {
            String name = classes.get(i);
            if (places.get(i) < 0) {
                absent.add(name);
            } else if (!theirs.get(places.get(i)).equals(name)) {
                spelled.add(name + " = " + theirs.get(places.get(i)));
            }
        }
        if (!isIdentity()) {
            lines.add(
                    Text.format(
                            "classes matched by name: %d of %d%s",
                            places.size() - absent.size(),
                            places.size(),
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
        return Comparators.isInStrictOrder(
                places.stream().filter(place -> place >= 0).toList(), Comparator.naturalOrder());
    }
}

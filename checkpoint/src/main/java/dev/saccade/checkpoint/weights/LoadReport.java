package dev.saccade.checkpoint.weights;

import ai.djl.ndarray.types.Shape;

import com.google.common.collect.ImmutableListMultimap;

import dev.saccade.core.Printable;
import dev.saccade.core.Text;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Result of loading a checkpoint into a module.
 *
 * @param names the other names by result
 * @param resized loaded position tables that were interpolated from another grid
 * @param remade tensors with rows for other classes, which stay as initialized
 * @param misshaped names that both have, with different shapes
 * @param notes further lines, such as how classes were matched
 */
public record LoadReport(
        ImmutableListMultimap<Fate, String> names,
        List<Resized> resized,
        List<Remade> remade,
        List<Misshaped> misshaped,
        List<String> notes)
        implements Printable.Lines {

    /** Result for a name. */
    public enum Fate {
        /** A parameter that got its value. */
        LOADED,
        /**
         * A parameter that such checkpoints never have, such as the norms of the outputs, or the
         * neck and the head if the checkpoint is of a backbone.
         */
        FRESH,
        /** A parameter that the checkpoint should have. */
        MISSING,
        /** A tensor without a parameter in the module. */
        UNEXPECTED,
        /** A tensor that needs no parameter, such as the classifier of a pre-training. */
        IGNORED,
        /** A tensor that is computed when needed, such as an index table. */
        COMPUTED
    }

    private static final int MAX_LINES = 12;

    /**
     * A tensor that does not fit.
     *
     * @param name its name in the module
     * @param found its shape in the checkpoint
     * @param expected its shape in the module
     */
    public record Misshaped(String name, Shape found, Shape expected) {}

    /**
     * A table of positions that was made to fit.
     *
     * @param name its name in the module
     * @param found its shape in the checkpoint
     * @param expected its shape in the module
     * @param how how it was made to fit, such as {@code bicubic}
     */
    public record Resized(String name, Shape found, Shape expected, String how) {}

    /**
     * A tensor for other classes.
     *
     * @param name its name in the module
     * @param why which classes, such as {@code 3 classes here, 80 in the checkpoint}
     */
    public record Remade(String name, String why) {}

    /** Keeps copies. */
    public LoadReport {
        resized = List.copyOf(resized);
        remade = List.copyOf(remade);
        misshaped = List.copyOf(misshaped);
        notes = List.copyOf(notes);
    }

    /** Returns the names of the module that got their values. */
    public List<String> loaded() {
        return names.get(Fate.LOADED);
    }

    /** Returns the names of the module that no such checkpoint has values for. */
    public List<String> fresh() {
        return names.get(Fate.FRESH);
    }

    /** Returns other names of the module that the checkpoint has no values for. */
    public List<String> missing() {
        return names.get(Fate.MISSING);
    }

    /** Returns the names of the checkpoint that the module has no place for. */
    public List<String> unexpected() {
        return names.get(Fate.UNEXPECTED);
    }

    /** Returns whether every parameter and buffer of the module got its value. */
    public boolean isComplete() {
        return remade.isEmpty() && fresh().isEmpty() && missing().isEmpty() && misshaped.isEmpty();
    }

    /** Returns the share of the checkpoint's tensors, those that need a place, that found one. */
    public double ratio() {
        int all = loaded().size() + unexpected().size() + misshaped.size();
        return all == 0 ? 0 : (double) loaded().size() / all;
    }

    /** Returns the report for people, in a few lines: names are grouped by where they belong. */
    @Override
    public String toString() {
        List<String> lines = new ArrayList<>();
        int others = remade.size() + fresh().size() + missing().size() + misshaped.size();
        int all = loaded().size() + others;
        lines.add(Text.format("loaded %d of %d parameters", loaded().size(), all));
        lines.addAll(notes);
        section(
                lines,
                "positions fitted to another grid",
                resized,
                r -> r.name + ": from " + r.found + " to " + r.expected + ", " + r.how);
        remade(lines);
        groups(lines, "not part of such a checkpoint, start as the config says", Fate.FRESH);
        groups(lines, "missing in the checkpoint, left as they were", Fate.MISSING);
        groups(lines, "unexpected in the checkpoint, not used", Fate.UNEXPECTED);
        section(
                lines,
                "of another shape, left as they were",
                misshaped,
                m -> m.name + ": got " + m.found + ", expected " + m.expected);
        groups(lines, "needless here, ignored", Fate.IGNORED, Fate.COMPUTED);
        return lines.stream()
                .map(Printable::line)
                .collect(Collectors.joining(System.lineSeparator()));
    }

    /** Adds the layers of other classes by their full names: these the user must know of. */
    private void remade(List<String> lines) {
        Map<String, Set<String>> layers = new LinkedHashMap<>();
        for (Remade tensor : remade) {
            String layer = tensor.name.substring(0, tensor.name.lastIndexOf('.'));
            layers.computeIfAbsent(tensor.why, why -> new LinkedHashSet<>()).add(layer);
        }
        layers.forEach(
                (why, names) ->
                        lines.add(why + ": initialized from scratch: " + String.join(", ", names)));
    }

    private static <T> void section(
            List<String> lines, String title, List<T> items, Function<T, String> line) {
        if (!items.isEmpty()) {
            lines.add(title + ": " + items.size());
            addFirst(lines, items.stream().map(line).toList());
        }
    }

    /** Adds names, in one line those that begin alike. */
    private void groups(List<String> lines, String title, Fate... fates) {
        Map<String, List<String>> groups = new LinkedHashMap<>();
        int count = 0;
        for (Fate fate : fates) {
            for (String name : names.get(fate)) {
                String beginning = fate == Fate.COMPUTED ? "*" + end(name) : beginning(name);
                groups.computeIfAbsent(beginning, key -> new ArrayList<>()).add(name);
                count++;
            }
        }
        if (count > 0) {
            lines.add(title + ": " + count);
            List<String> rendered = new ArrayList<>();
            boolean isExpected = fates[0] == Fate.FRESH;
            for (Map.Entry<String, List<String>> group : groups.entrySet()) {
                String line = line(group.getKey(), group.getValue());
                rendered.add(isExpected ? line : line + example(group.getKey(), group.getValue()));
            }
            addFirst(lines, rendered);
        }
    }

    private static String line(String beginning, List<String> names) {
        String first = names.get(0);
        if (names.size() == 1) {
            return first;
        }
        String end = end(first);
        boolean isCommon =
                !beginning.endsWith(end) && names.stream().allMatch(name -> name.endsWith(end));
        return beginning + (isCommon ? end : "") + " (" + names.size() + ")";
    }

    /** Returns one of several names of a group, unless the group states its only beginning. */
    private static String example(String beginning, List<String> names) {
        return names.size() == 1 || beginning.startsWith("*") ? "" : ", such as " + names.get(0);
    }

    private static void addFirst(List<String> lines, List<String> items) {
        items.stream().limit(MAX_LINES).forEach(item -> lines.add("  " + item));
        if (items.size() > MAX_LINES) {
            lines.add("  ... and " + (items.size() - MAX_LINES) + " more such lines");
        }
    }

    /** Returns the last part of a name; computed tensors are grouped by it. */
    private static String end(String name) {
        return name.substring(name.lastIndexOf('.'));
    }

    /** Returns the first two parts of a dotted name, or all but its last where there are fewer. */
    private static String beginning(String name) {
        int first = name.indexOf('.');
        int second = name.indexOf('.', first + 1);
        if (first < 0) {
            return name;
        }
        return name.substring(0, second < 0 ? first : second) + ".*";
    }
}

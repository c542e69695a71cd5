package dev.saccade.checkpoint.weights;

import com.google.common.collect.ImmutableListMultimap;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.LinkedHashMultimap;
import com.google.common.collect.ListMultimap;
import com.google.common.collect.MultimapBuilder;
import com.google.common.collect.SetMultimap;

import dev.saccade.core.Printable;
import dev.saccade.core.Text;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Result of loading a checkpoint into a module.
 *
 * @param names the names by result
 * @param details explanations of single names, such as their shapes
 * @param notes further lines, such as how classes were matched
 */
public record LoadReport(
        ImmutableListMultimap<Fate, String> names, Map<String, String> details, List<String> notes)
        implements Printable.Lines {

    /** Result for a name. */
    public enum Fate {
        /** A parameter that got its value. */
        LOADED,
        /** A loaded table of positions that was interpolated from another grid. */
        RESIZED,
        /** A parameter with rows for other classes, which stays as initialized. */
        REMADE,
        /**
         * A parameter that such checkpoints never have, such as the norms of the outputs, or the
         * neck and the head if the checkpoint is of a backbone.
         */
        FRESH,
        /** A parameter that the checkpoint should have. */
        MISSING,
        /** A tensor without a parameter in the module. */
        UNEXPECTED,
        /** A parameter of another shape than its tensor. */
        MISSHAPED,
        /** A tensor that needs no parameter, such as the classifier of a pre-training. */
        IGNORED,
        /** A tensor that is computed when needed, such as an index table. */
        COMPUTED
    }

    private static final int MAX_LINES = 12;

    /** Keeps copies. */
    public LoadReport {
        details = ImmutableMap.copyOf(details);
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
        return lacking() == 0;
    }

    /** Returns the number of parameters without a value of the checkpoint. */
    private int lacking() {
        return Stream.of(Fate.REMADE, Fate.FRESH, Fate.MISSING, Fate.MISSHAPED)
                .mapToInt(fate -> names.get(fate).size())
                .sum();
    }

    /** Returns the fraction of the checkpoint's tensors that are loaded, of those that could be. */
    public double ratio() {
        int all = loaded().size() + unexpected().size() + names.get(Fate.MISSHAPED).size();
        return all == 0 ? 0 : (double) loaded().size() / all;
    }

    /** Returns the report for people, in a few lines: names are grouped by where they belong. */
    @Override
    public String toString() {
        List<String> lines = new ArrayList<>();
        int all = loaded().size() + lacking();
        lines.add(Text.format("loaded %d of %d parameters", loaded().size(), all));
        lines.addAll(notes);
        section(lines, "positions fitted to another grid", Fate.RESIZED);
        remade(lines);
        groups(lines, "not part of such a checkpoint, start as the config says", Fate.FRESH);
        groups(lines, "missing in the checkpoint, left as they were", Fate.MISSING);
        groups(lines, "unexpected in the checkpoint, not used", Fate.UNEXPECTED);
        section(lines, "of another shape, left as they were", Fate.MISSHAPED);
        groups(lines, "needless here, ignored", Fate.IGNORED, Fate.COMPUTED);
        return lines.stream()
                .map(Printable::line)
                .collect(Collectors.joining(System.lineSeparator()));
    }

    /** Adds the layers of other classes by their full names: these the user must know. */
    private void remade(List<String> lines) {
        SetMultimap<String, String> layers = LinkedHashMultimap.create();
        for (String name : names.get(Fate.REMADE)) {
            layers.put(details.get(name), name.substring(0, name.lastIndexOf('.')));
        }
        layers.asMap()
                .forEach(
                        (why, all) ->
                                lines.add(
                                        why
                                                + ": initialized from scratch: "
                                                + String.join(", ", all)));
    }

    private void section(List<String> lines, String title, Fate fate) {
        List<String> items = names.get(fate);
        if (!items.isEmpty()) {
            lines.add(title + ": " + items.size());
            addFirst(lines, items.stream().map(name -> name + ": " + details.get(name)).toList());
        }
    }

    /** Adds names, in one line those that begin alike. */
    private void groups(List<String> lines, String title, Fate... fates) {
        ListMultimap<String, String> groups =
                MultimapBuilder.linkedHashKeys().arrayListValues().build();
        for (Fate fate : fates) {
            for (String name : names.get(fate)) {
                groups.put(fate == Fate.COMPUTED ? "*" + end(name) : beginning(name), name);
            }
        }
        if (!groups.isEmpty()) {
            lines.add(title + ": " + groups.size());
            boolean isExpected = fates[0] == Fate.FRESH;
            List<String> rendered = new ArrayList<>();
            for (String key : groups.keySet()) {
                String example = isExpected ? "" : example(key, groups.get(key));
                rendered.add(line(key, groups.get(key)) + example);
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

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
 * @param names names by status
 * @param details remarks by name, such as shapes
 * @param notes further lines, such as how classes were matched
 */
public record LoadReport(
        ImmutableListMultimap<Status, String> names,
        Map<String, String> details,
        List<String> notes)
        implements Printable.Lines {

    /** Status of a parameter or tensor. */
    public enum Status {
        /** Loaded parameter. */
        LOADED,
        /** Interpolated position table; also {@link #LOADED}. */
        RESIZED,
        /** Parameter with rows for other classes; stays as initialized. */
        REINITIALIZED,
        /**
         * Parameter that this type of checkpoint never has, such as the head in a backbone
         * checkpoint.
         */
        NEW,
        /** Parameter that the checkpoint lacks. */
        MISSING,
        /** Tensor without a parameter. */
        UNEXPECTED,
        /** Parameter whose tensor has another shape. */
        SHAPE_MISMATCH,
        /** Tensor that is not needed, such as the classifier of a pretrained backbone. */
        IGNORED,
        /** Tensor that Saccade computes, such as an index table. */
        COMPUTED
    }

    private static final int MAX_LINES = 12;

    public LoadReport {
        details = ImmutableMap.copyOf(details);
        notes = List.copyOf(notes);
    }

    public List<String> loaded() {
        return names.get(Status.LOADED);
    }

    /** Returns the parameters that this type of checkpoint never has. */
    public List<String> newParameters() {
        return names.get(Status.NEW);
    }

    /** Returns the parameters that the checkpoint lacks. */
    public List<String> missing() {
        return names.get(Status.MISSING);
    }

    /** Returns the tensors without a parameter. */
    public List<String> unexpected() {
        return names.get(Status.UNEXPECTED);
    }

    /** Returns whether every parameter and buffer was loaded. */
    public boolean isComplete() {
        return missingCount() == 0;
    }

    private int missingCount() {
        return Stream.of(Status.REINITIALIZED, Status.NEW, Status.MISSING, Status.SHAPE_MISMATCH)
                .mapToInt(status -> names.get(status).size())
                .sum();
    }

    /** Returns the loaded fraction of all loaded, unexpected and mismatched tensors. */
    public double ratio() {
        int all = loaded().size() + unexpected().size() + names.get(Status.SHAPE_MISMATCH).size();
        return all == 0 ? 0 : (double) loaded().size() / all;
    }

    /** Returns a few lines for users; names are grouped by prefix. */
    @Override
    public String toString() {
        List<String> lines = new ArrayList<>();
        int all = loaded().size() + missingCount();
        lines.add(Text.format("loaded %d of %d parameters", loaded().size(), all));
        lines.addAll(notes);
        addSection(lines, "position tables interpolated", Status.RESIZED);
        addReinitialized(lines);
        addGroups(
                lines, "never in this type of checkpoint, initialized from the config", Status.NEW);
        addGroups(lines, "missing in the checkpoint, unchanged", Status.MISSING);
        addGroups(lines, "unexpected in the checkpoint, ignored", Status.UNEXPECTED);
        addSection(lines, "shape mismatch, unchanged", Status.SHAPE_MISMATCH);
        addGroups(lines, "not needed, ignored", Status.IGNORED, Status.COMPUTED);
        return lines.stream()
                .map(Printable::line)
                .collect(Collectors.joining(System.lineSeparator()));
    }

    /** Adds reinitialized layers with full names, which users need to know. */
    private void addReinitialized(List<String> lines) {
        SetMultimap<String, String> layers = LinkedHashMultimap.create();
        for (String name : names.get(Status.REINITIALIZED)) {
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

    private void addSection(List<String> lines, String title, Status status) {
        List<String> items = names.get(status);
        if (!items.isEmpty()) {
            lines.add(title + ": " + items.size());
            addFirst(lines, items.stream().map(name -> name + ": " + details.get(name)).toList());
        }
    }

    /** Adds names, one line per common prefix or, for computed tensors, per common last part. */
    private void addGroups(List<String> lines, String title, Status... statuses) {
        ListMultimap<String, String> groups =
                MultimapBuilder.linkedHashKeys().arrayListValues().build();
        for (Status status : statuses) {
            for (String name : names.get(status)) {
                groups.put(status == Status.COMPUTED ? "*" + end(name) : beginning(name), name);
            }
        }
        if (!groups.isEmpty()) {
            lines.add(title + ": " + groups.size());
            boolean isExpected = statuses[0] == Status.NEW;
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

    /** Returns an example of a group; empty if the line already shows a full name. */
    private static String example(String beginning, List<String> names) {
        return names.size() == 1 || beginning.startsWith("*") ? "" : ", such as " + names.get(0);
    }

    private static void addFirst(List<String> lines, List<String> items) {
        items.stream().limit(MAX_LINES).forEach(item -> lines.add("  " + item));
        if (items.size() > MAX_LINES) {
            lines.add("  ... and " + (items.size() - MAX_LINES) + " more lines");
        }
    }

    /** Returns the last part of a name. */
    private static String end(String name) {
        return name.substring(name.lastIndexOf('.'));
    }

    /** Returns the prefix of a name: its first two parts, but never the last. */
    private static String beginning(String name) {
        int first = name.indexOf('.');
        int second = name.indexOf('.', first + 1);
        if (first < 0) {
            return name;
        }
        return name.substring(0, second < 0 ? first : second) + ".*";
    }
}

package dev.saccade.checkpoint.weights;

import ai.djl.ndarray.types.Shape;

import com.google.common.collect.Maps;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.ModelRank;
import dev.saccade.checkpoint.Tensor;
import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.NameTable;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Searches for the names of a module in a checkpoint: a prefix of theirs, such as {@code
 * module.encoder_q.}, is removed, names of other libraries are translated, and a prefix of ours,
 * such as {@code backbone.}, is added.
 *
 * <p>The combination that finds the most names and shapes is used. Where several parts of a file
 * fit about equally, trained weights are preferred to their running averages, and a teacher to its
 * student, as self-distillation evaluates the teacher.
 */
final class NameSearch {

    /** A prefix of fewer names is not tried. */
    private static final double LEAST_SHARE = 0.1;

    /** A part of a checkpoint must have at least this ratio of the names of the module. */
    private static final double LEAST_FOUND = 0.5;

    /** Parts that fit at least this well, compared with the best, are alternatives. */
    private static final double ALTERNATIVE = 0.9;

    private static final int MAX_PREFIXES = 64;

    /**
     * Mapping of names.
     *
     * @param removed prefix of theirs that is removed
     * @param table translation of names, if they are of another library
     * @param added prefix of ours that is added
     */
    record Mapping(String removed, Optional<NameTable> table, String added) {

        static final Mapping IDENTITY = new Mapping("", Optional.empty(), "");

        /** Returns the checkpoint without the prefix; names without it stay as they are. */
        Checkpoint strip(Checkpoint checkpoint) {
            if (removed.isEmpty()) {
                return checkpoint;
            }
            Map<String, Tensor> tensors = checkpoint.below(removed);
            Maps.filterKeys(checkpoint.tensors(), name -> !name.startsWith(removed))
                    .forEach(tensors::putIfAbsent);
            return checkpoint.with(tensors);
        }
    }

    /** A mapping and how well it fits. */
    private record Candidate(Mapping mapping, long score) {

        int rank(boolean hasStudent) {
            return ModelRank.of(mapping.removed, hasStudent);
        }
    }

    private final Map<String, Tensor> tensors;
    private final Map<String, Shape> known;
    private final CheckpointRules rules;
    private final List<String> notes = new ArrayList<>();
    private final Mapping best;

    /**
     * Searches.
     *
     * @param known names and shapes of the module
     */
    NameSearch(Map<String, Tensor> tensors, Map<String, Shape> known, CheckpointRules rules) {
        this.tensors = tensors;
        this.known = known;
        this.rules = rules;
        // Names that are all here need no translation, whatever they look like.
        this.best = tensors.keySet().containsAll(known.keySet()) ? Mapping.IDENTITY : search();
    }

    /** Returns the mapping that fits best. */
    Mapping best() {
        return best;
    }

    /** Returns lines on which part of the checkpoint is used. */
    List<String> notes() {
        return notes;
    }

    /** Returns the prefix and the table of names of another library; empty if there are none. */
    static Optional<Mapping> table(Set<String> names, CheckpointRules rules) {
        return prefixes(names).stream()
                .map(prefix -> new Mapping(prefix, table(stripped(names, prefix), rules), ""))
                .filter(mapping -> mapping.table.isPresent())
                .min(Comparator.comparingInt(found -> ModelRank.of(found.removed, false)));
    }

    private static Optional<NameTable> table(List<String> names, CheckpointRules rules) {
        Set<String> set = new LinkedHashSet<>(names);
        return rules.names().stream()
                .filter(table -> table.translates() && table.isTheirs(set))
                .findFirst();
    }

    private Mapping search() {
        List<Candidate> candidates = new ArrayList<>();
        Set<String> parts = firstParts(known.keySet());
        for (String prefix : prefixes(tensors.keySet())) {
            List<String> names = stripped(tensors.keySet(), prefix);
            Optional<NameTable> table = table(names, rules);
            for (String part : parts) {
                Mapping mapping = new Mapping(prefix, table, part);
                candidates.add(new Candidate(mapping, score(mapping, names)));
            }
        }
        candidates.removeIf(each -> each.score == 0);
        Optional<Candidate> most =
                candidates.stream().max(Comparator.comparingLong(Candidate::score));
        if (most.isEmpty()) {
            return Mapping.IDENTITY;
        }
        List<Candidate> good =
                candidates.stream()
                        .filter(each -> each.score >= ALTERNATIVE * most.get().score)
                        .toList();
        boolean hasStudent =
                good.stream().anyMatch(each -> ModelRank.isOf(each.mapping.removed, "student"));
        Comparator<Candidate> order =
                Comparator.<Candidate>comparingInt(each -> each.rank(hasStudent))
                        .thenComparingLong(each -> -each.score)
                        .thenComparingInt(each -> each.mapping.removed.length())
                        .thenComparingInt(each -> each.mapping.added.length());
        Mapping chosen = good.stream().min(order).orElseThrow().mapping;
        describe(chosen, good);
        return chosen;
    }

    private long score(Mapping mapping, List<String> names) {
        long found = 0;
        long sameShapes = 0;
        Set<String> seen = new LinkedHashSet<>();
        for (String name : names) {
            Optional<NameTable.Renamed> renamed = mapping.table.map(table -> table.toOurs(name));
            String ours = renamed.map(NameTable.Renamed::name).orElse(name);
            Shape shape = known.get(mapping.added + ours);
            if (shape != null && seen.add(ours)) {
                found++;
                boolean isPart = renamed.isPresent() && renamed.get().slice().isPresent();
                Shape theirs = tensors.get(mapping.removed + name).shape();
                sameShapes += isPart || theirs.equals(shape) ? 1 : 0;
            }
        }
        long all = known.keySet().stream().filter(name -> name.startsWith(mapping.added)).count();
        boolean isPart = !mapping.removed.isEmpty() && found < LEAST_FOUND * all;
        return isPart ? 0 : found + sameShapes;
    }

    private void describe(Mapping chosen, List<Candidate> good) {
        List<String> others =
                good.stream()
                        .map(each -> each.mapping.removed)
                        .filter(prefix -> !prefix.startsWith(chosen.removed))
                        .filter(prefix -> !chosen.removed.startsWith(prefix))
                        .distinct()
                        .toList();
        if (!others.isEmpty()) {
            notes.add(
                    "the checkpoint holds several models: used "
                            + quoted(chosen.removed)
                            + ", not "
                            + String.join(", ", others.stream().map(NameSearch::quoted).toList()));
        } else if (!chosen.removed.isEmpty()) {
            notes.add("names in the checkpoint begin with " + quoted(chosen.removed));
        }
        chosen.table
                .map(NameTable::note)
                .filter(note -> !note.isEmpty())
                .ifPresent(note -> notes.add("warning: " + note));
    }

    private static String quoted(String prefix) {
        boolean isAveraged = ModelRank.of(prefix, false) > 1;
        return "\"" + prefix + "\"" + (isAveraged ? " (averaged weights)" : "");
    }

    /** Returns the beginnings that a considerable part of the names has, with the empty one. */
    private static List<String> prefixes(Set<String> names) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        counts.put("", names.size());
        for (String name : names) {
            for (int dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
                counts.merge(name.substring(0, dot + 1), 1, Integer::sum);
            }
        }
        return counts.entrySet().stream()
                .filter(entry -> entry.getValue() >= LEAST_SHARE * names.size())
                .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
                .limit(MAX_PREFIXES)
                .map(Map.Entry::getKey)
                .toList();
    }

    private static List<String> stripped(Set<String> names, String prefix) {
        return names.stream()
                .filter(name -> name.startsWith(prefix))
                .map(name -> name.substring(prefix.length()))
                .toList();
    }

    private static Set<String> firstParts(Set<String> names) {
        Set<String> parts = new LinkedHashSet<>(Set.of(""));
        names.forEach(name -> parts.add(name.substring(0, name.indexOf('.') + 1)));
        return parts;
    }
}

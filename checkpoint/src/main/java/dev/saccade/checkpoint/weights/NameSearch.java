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
 * Finds the names of a module in a checkpoint: removes a prefix such as {@code module.encoder_q.},
 * translates names of other libraries, and adds a prefix such as {@code backbone.}.
 *
 * <p>The combination that matches most names and shapes wins. Of models that match about equally,
 * trained weights are preferred to averaged weights, and a teacher to its student.
 */
final class NameSearch {

    /** Prefixes of fewer than this fraction of the names are not tried. */
    private static final double MIN_PREFIX_RATIO = 0.1;

    /** Minimum fraction of the module's names that must match after a prefix is removed. */
    private static final double MIN_MATCH_RATIO = 0.5;

    /** Models with at least this fraction of the best score are alternatives. */
    private static final double ALTERNATIVE = 0.9;

    private static final int MAX_PREFIXES = 64;

    /** Removes a prefix, translates the names of another library, and adds a prefix. */
    record Mapping(String removed, Optional<NameTable> table, String added) {

        static final Mapping IDENTITY = new Mapping("", Optional.empty(), "");

        /** Removes the prefix; other names stay unchanged. */
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

    /** Searches tensors for the names and shapes of a module. */
    NameSearch(Map<String, Tensor> tensors, Map<String, Shape> known, CheckpointRules rules) {
        this.tensors = tensors;
        this.known = known;
        this.rules = rules;
        // If the checkpoint has all names, nothing is translated.
        this.best = tensors.keySet().containsAll(known.keySet()) ? Mapping.IDENTITY : search();
    }

    Mapping best() {
        return best;
    }

    /** Returns remarks for users, such as which of several models was chosen. */
    List<String> notes() {
        return notes;
    }

    /** Returns the prefix to remove and the name table that matches; empty if none does. */
    static Optional<Mapping> table(Set<String> names, CheckpointRules rules) {
        return prefixes(names).stream()
                .map(prefix -> new Mapping(prefix, table(stripped(names, prefix), rules), ""))
                .filter(mapping -> mapping.table.isPresent())
                .min(Comparator.comparingInt(found -> ModelRank.of(found.removed, false)));
    }

    private static Optional<NameTable> table(List<String> names, CheckpointRules rules) {
        Set<String> set = new LinkedHashSet<>(names);
        return rules.names().stream()
                .filter(table -> table.translates() || !table.note().isEmpty())
                .filter(table -> table.isTheirs(set))
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
        boolean isPart = !mapping.removed.isEmpty() && found < MIN_MATCH_RATIO * all;
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
                    "the checkpoint contains several models: used "
                            + quoted(chosen.removed)
                            + ", not "
                            + String.join(", ", others.stream().map(NameSearch::quoted).toList()));
        } else if (!chosen.removed.isEmpty()) {
            notes.add("names in the checkpoint have the prefix " + quoted(chosen.removed));
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

    /** Returns frequent prefixes, including the empty one. */
    private static List<String> prefixes(Set<String> names) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        counts.put("", names.size());
        for (String name : names) {
            for (int dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
                counts.merge(name.substring(0, dot + 1), 1, Integer::sum);
            }
        }
        return counts.entrySet().stream()
                .filter(entry -> entry.getValue() >= MIN_PREFIX_RATIO * names.size())
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

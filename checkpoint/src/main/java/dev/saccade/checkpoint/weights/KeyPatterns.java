package dev.saccade.checkpoint.weights;

import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.ClassRows;
import dev.saccade.core.conversion.NamePattern;

import java.util.List;
import java.util.Optional;

/** Names that may be only in the checkpoint or only in the module. */
record KeyPatterns(CheckpointRules rules) {

    /** Batch counter of PyTorch's batch normalization. */
    private static final NamePattern COUNTER = new NamePattern("{*}.num_batches_tracked");

    private static final List<NamePattern> STATES =
            List.of(
                    new NamePattern("optimizer.{*}"),
                    new NamePattern("hooks.{*}"),
                    new NamePattern("ema.{*}"));

    /** Returns whether a tensor is a counter or index table, which Saccade computes. */
    boolean isComputed(String name) {
        return COUNTER.matches(name)
                || rules.indexes().stream().anyMatch(table -> table.name().matches(name))
                || isAny(rules.computed(), name);
    }

    /** Returns whether a tensor is not needed: a classifier, or optimizer, hook or EMA state. */
    boolean isIgnored(String name) {
        return isAny(STATES, name) || isAny(rules.unexpected(), name);
    }

    /** Returns whether a parameter may be missing from the checkpoint. */
    boolean isFresh(String name) {
        return isAny(rules.missing(), name);
    }

    /** Returns the row order of a class layer, if a component defines it. */
    Optional<ClassRows.Order> classRows(String name) {
        return rules.classRows().stream()
                .filter(rows -> rows.name().matches(name))
                .map(ClassRows::order)
                .findFirst();
    }

    private static boolean isAny(List<NamePattern> patterns, String name) {
        return patterns.stream().anyMatch(pattern -> pattern.matches(name));
    }
}

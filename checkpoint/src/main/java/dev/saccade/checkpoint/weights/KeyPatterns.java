package dev.saccade.checkpoint.weights;

import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.ClassRows;
import dev.saccade.core.conversion.NamePattern;

import java.util.List;
import java.util.Optional;

/** Names that a checkpoint and a module need not have in common. */
record KeyPatterns(CheckpointRules rules) {

    /** PyTorch's batch normalization counts its batches. */
    private static final NamePattern COUNTER = new NamePattern("{*}.num_batches_tracked");

    private static final List<NamePattern> STATES =
            List.of(
                    new NamePattern("optimizer.{*}"),
                    new NamePattern("hooks.{*}"),
                    new NamePattern("ema.{*}"));

    /** Returns whether a tensor is a counter or an index table, which are computed. */
    boolean isComputed(String name) {
        return COUNTER.matches(name)
                || rules.indexes().stream().anyMatch(table -> table.name().matches(name))
                || isAny(rules.computed(), name);
    }

    /**
     * Returns whether a tensor needs no parameter: of a pre-training classifier, an optimizer or
     * hook, or averaged weights.
     */
    boolean isIgnored(String name) {
        return isAny(STATES, name) || isAny(rules.unexpected(), name);
    }

    /** Returns whether a parameter needs no tensor. */
    boolean isFresh(String name) {
        return isAny(rules.missing(), name);
    }

    /** Returns the row order of a layer with several rows per class, if a component states it. */
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

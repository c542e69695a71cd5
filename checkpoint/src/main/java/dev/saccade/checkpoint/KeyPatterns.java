package dev.saccade.checkpoint;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.ClassRows;
import dev.saccade.core.conversion.IndexTable;
import dev.saccade.core.conversion.NamePattern;

import java.util.List;
import java.util.Optional;

/** The names that pre-training and dense prediction do not have in common, and rightly so. */
final class KeyPatterns {

    /** PyTorch's own batch normalization counts its batches. */
    private static final NamePattern COUNTER = new NamePattern("{*}.num_batches_tracked");

    private static final NamePattern OPTIMIZER = new NamePattern("optimizer.{*}");
    private static final NamePattern HOOKS = new NamePattern("hooks.{*}");
    private static final NamePattern EMA = new NamePattern("ema.{*}");

    private final ImmutableList<NamePattern> computed;
    private final ImmutableList<NamePattern> ignored;
    private final ImmutableList<NamePattern> fresh;
    private final ImmutableList<ClassRows> classRows;

    KeyPatterns(CheckpointRules rules) {
        computed =
                ImmutableList.<NamePattern>builder()
                        .add(COUNTER)
                        .addAll(rules.indexes().stream().map(IndexTable::name).iterator())
                        .addAll(rules.computed())
                        .build();
        ignored =
                ImmutableList.<NamePattern>builder()
                        .add(OPTIMIZER, HOOKS, EMA)
                        .addAll(rules.unexpected())
                        .build();
        fresh = ImmutableList.copyOf(rules.missing());
        classRows = ImmutableList.copyOf(rules.classRows());
    }

    /** Returns whether a tensor is a counter or an index table, computed anew where needed. */
    boolean isComputed(String name) {
        return isAny(computed, name);
    }

    /**
     * Returns whether it is right that a tensor of a checkpoint finds no place: it is of the
     * classifier of a pre-training, the state of an optimizer or a hook, or the weights behind
     * averages.
     */
    boolean isIgnored(String name) {
        return isAny(ignored, name);
    }

    /** Returns whether it is right that a checkpoint has nothing for a parameter. */
    boolean isFresh(String name) {
        return isAny(fresh, name);
    }

    /** Returns the row order of a layer with several rows per class, if a part states it. */
    Optional<ClassRows.Order> classRows(String name) {
        return classRows.stream()
                .filter(rows -> rows.name().matches(name))
                .map(ClassRows::order)
                .findFirst();
    }

    private static boolean isAny(List<NamePattern> patterns, String name) {
        return patterns.stream().anyMatch(pattern -> pattern.matches(name));
    }
}

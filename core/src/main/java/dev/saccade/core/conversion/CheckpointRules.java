package dev.saccade.core.conversion;

import com.google.common.collect.ImmutableList;

import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** Immutable rules for loading third-party checkpoints of a component. */
public final class CheckpointRules {

    public static final CheckpointRules NONE = new CheckpointRules();

    private final Set<NameTable> names = new LinkedHashSet<>();
    private final Set<PositionTable> positions = new LinkedHashSet<>();
    private final Set<IndexTable> indexes = new LinkedHashSet<>();
    private final Set<NamePattern> computed = new LinkedHashSet<>();
    private final Set<NamePattern> unexpected = new LinkedHashSet<>();
    private final Set<NamePattern> missing = new LinkedHashSet<>();
    private final Set<ClassRows> classRows = new LinkedHashSet<>();

    private CheckpointRules() {}

    /** Returns the union of these rules and others. */
    public CheckpointRules and(CheckpointRules others) {
        CheckpointRules both = new CheckpointRules();
        for (CheckpointRules each : List.of(this, others)) {
            both.names.addAll(each.names);
            both.positions.addAll(each.positions);
            both.indexes.addAll(each.indexes);
            both.computed.addAll(each.computed);
            both.unexpected.addAll(each.unexpected);
            both.missing.addAll(each.missing);
            both.classRows.addAll(each.classRows);
        }
        return both;
    }

    private <T> CheckpointRules with(Function<CheckpointRules, Set<T>> kind, List<T> more) {
        CheckpointRules all = and(NONE);
        kind.apply(all).addAll(more);
        return all;
    }

    private static List<NamePattern> patterns(String... names) {
        return Arrays.stream(names).map(NamePattern::new).toList();
    }

    /** Adds mappings from tensor names of other libraries to ours. */
    public CheckpointRules withNames(NameTable... more) {
        return with(rules -> rules.names, List.of(more));
    }

    /** Adds position embeddings, which are resized if the grid size differs. */
    public CheckpointRules withPositions(PositionTable... more) {
        return with(rules -> rules.positions, List.of(more));
    }

    /** Adds index tables that Python classes store with the weights. */
    public CheckpointRules withIndexes(IndexTable... more) {
        return with(rules -> rules.indexes, List.of(more));
    }

    /** Adds keys of other tensors, such as masks, that Saccade computes instead of loading. */
    public CheckpointRules withComputed(String... more) {
        return with(rules -> rules.computed, patterns(more));
    }

    /** Adds keys that are ignored and not reported as unexpected, such as a classifier. */
    public CheckpointRules withUnexpected(String... more) {
        return with(rules -> rules.unexpected, patterns(more));
    }

    /** Adds parameters that third-party checkpoints may lack without a warning. */
    public CheckpointRules withMissing(String... more) {
        return with(rules -> rules.missing, patterns(more));
    }

    /** Adds layers with several rows per class; layers with one row per class need no entry. */
    public CheckpointRules withClassRows(ClassRows... more) {
        return with(rules -> rules.classRows, List.of(more));
    }

    public List<NameTable> names() {
        return ImmutableList.copyOf(names);
    }

    public List<PositionTable> positions() {
        return ImmutableList.copyOf(positions);
    }

    public List<IndexTable> indexes() {
        return ImmutableList.copyOf(indexes);
    }

    public List<NamePattern> computed() {
        return ImmutableList.copyOf(computed);
    }

    public List<NamePattern> unexpected() {
        return ImmutableList.copyOf(unexpected);
    }

    public List<NamePattern> missing() {
        return ImmutableList.copyOf(missing);
    }

    public List<ClassRows> classRows() {
        return ImmutableList.copyOf(classRows);
    }
}

package dev.saccade.core.conversion;

import com.google.common.collect.ImmutableList;

import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * Rules for checkpoints of a component that were not written by Saccade. Names are {@link
 * NamePattern}s. Immutable.
 */
public final class CheckpointRules {

    /** No rules. */
    public static final CheckpointRules NONE = new CheckpointRules();

    private final Set<NameTable> names = new LinkedHashSet<>();
    private final Set<PositionTable> positions = new LinkedHashSet<>();
    private final Set<IndexTable> indexes = new LinkedHashSet<>();
    private final Set<NamePattern> computed = new LinkedHashSet<>();
    private final Set<NamePattern> unexpected = new LinkedHashSet<>();
    private final Set<NamePattern> missing = new LinkedHashSet<>();
    private final Set<ClassRows> classRows = new LinkedHashSet<>();

    private CheckpointRules() {}

    /** Returns these rules, then others. */
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

    /** Adds the tensor names of other libraries. */
    public CheckpointRules withNames(NameTable... more) {
        return with(rules -> rules.names, List.of(more));
    }

    /** Adds position tables, which are resized to another grid. */
    public CheckpointRules withPositions(PositionTable... more) {
        return with(rules -> rules.positions, List.of(more));
    }

    /** Adds index tables that the Python classes store beside the weights. */
    public CheckpointRules withIndexes(IndexTable... more) {
        return with(rules -> rules.indexes, List.of(more));
    }

    /** Adds keys of other tensors that are computed when they are needed, such as masks. */
    public CheckpointRules withComputed(String... more) {
        return with(rules -> rules.computed, patterns(more));
    }

    /** Adds keys that are ignored and not reported as unexpected, such as a classifier. */
    public CheckpointRules withUnexpected(String... more) {
        return with(rules -> rules.unexpected, patterns(more));
    }

    /** Adds parameters that such files lack, such as output normalizations; not reported. */
    public CheckpointRules withMissing(String... more) {
        return with(rules -> rules.missing, patterns(more));
    }

    /** Adds layers with several rows per class; layers with one row per class need no entry. */
    public CheckpointRules withClassRows(ClassRows... more) {
        return with(rules -> rules.classRows, List.of(more));
    }

    /** Returns the tensor names of other libraries. */
    public List<NameTable> names() {
        return ImmutableList.copyOf(names);
    }

    /** Returns the position tables. */
    public List<PositionTable> positions() {
        return ImmutableList.copyOf(positions);
    }

    /** Returns the index tables. */
    public List<IndexTable> indexes() {
        return ImmutableList.copyOf(indexes);
    }

    /** Returns the keys that are computed. */
    public List<NamePattern> computed() {
        return ImmutableList.copyOf(computed);
    }

    /** Returns the keys that are ignored. */
    public List<NamePattern> unexpected() {
        return ImmutableList.copyOf(unexpected);
    }

    /** Returns the parameters that may be missing. */
    public List<NamePattern> missing() {
        return ImmutableList.copyOf(missing);
    }

    /** Returns the layers with several rows per class. */
    public List<ClassRows> classRows() {
        return ImmutableList.copyOf(classRows);
    }
}

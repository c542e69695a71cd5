package dev.saccade.core.conversion;

import com.google.common.collect.ImmutableList;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * What is to be known of checkpoints of a part that were not written by Saccade. Names are given as
 * {@link NamePattern}s.
 *
 * @param names how other libraries name its tensors
 * @param positions tables of positions, resized to another grid
 * @param indexes tables that the Python classes store beside the weights
 * @param computed what else such files hold that is computed anew where it is needed, such as masks
 * @param needless what else such files hold that needs no place, such as a classifier
 * @param fresh parameters that such files hold nothing for, such as normalizations of the outputs
 */
public record CheckpointRules(
        List<NameTable> names,
        List<PositionTable> positions,
        List<IndexTable> indexes,
        List<NamePattern> computed,
        List<NamePattern> needless,
        List<NamePattern> fresh) {

    /** Of a part that has no other names and no tables. */
    public static final CheckpointRules NONE =
            new CheckpointRules(List.of(), List.of(), List.of(), List.of(), List.of(), List.of());

    /** Keeps copies. */
    public CheckpointRules {
        names = ImmutableList.copyOf(names);
        positions = ImmutableList.copyOf(positions);
        indexes = ImmutableList.copyOf(indexes);
        computed = ImmutableList.copyOf(computed);
        needless = ImmutableList.copyOf(needless);
        fresh = ImmutableList.copyOf(fresh);
    }

    /** Returns these rules, then others. */
    public CheckpointRules and(CheckpointRules others) {
        return new CheckpointRules(
                joined(names, others.names),
                joined(positions, others.positions),
                joined(indexes, others.indexes),
                joined(computed, others.computed),
                joined(needless, others.needless),
                joined(fresh, others.fresh));
    }

    /** Adds the names of other libraries. */
    public CheckpointRules withNames(NameTable... more) {
        return new CheckpointRules(
                joined(names, List.of(more)), positions, indexes, computed, needless, fresh);
    }

    /** Adds tables of positions. */
    public CheckpointRules withPositions(PositionTable... more) {
        return new CheckpointRules(
                names, joined(positions, List.of(more)), indexes, computed, needless, fresh);
    }

    /** Adds tables that are stored beside the weights. */
    public CheckpointRules withIndexes(IndexTable... more) {
        return new CheckpointRules(
                names, positions, joined(indexes, List.of(more)), computed, needless, fresh);
    }

    /** Adds names of what is computed. */
    public CheckpointRules withComputed(String... more) {
        return new CheckpointRules(
                names, positions, indexes, joined(computed, patterns(more)), needless, fresh);
    }

    /** Adds names of what needs no place. */
    public CheckpointRules withNeedless(String... more) {
        return new CheckpointRules(
                names, positions, indexes, computed, joined(needless, patterns(more)), fresh);
    }

    /** Adds names of parameters that such files hold nothing for. */
    public CheckpointRules withFresh(String... more) {
        return new CheckpointRules(
                names, positions, indexes, computed, needless, joined(fresh, patterns(more)));
    }

    private static List<NamePattern> patterns(String... names) {
        return Arrays.stream(names).map(NamePattern::new).toList();
    }

    private static <T> List<T> joined(List<T> some, List<T> others) {
        return Stream.concat(some.stream(), others.stream()).distinct().toList();
    }
}

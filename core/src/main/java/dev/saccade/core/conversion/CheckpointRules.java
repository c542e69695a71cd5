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
 * @param unexpected what else such files hold that needs no place and is ignored, such as a
 *     classifier
 * @param missing parameters that such files rightly lack, such as normalizations of the outputs
 * @param classRows layers with several rows per class; layers with one row per class need no entry
 */
public record CheckpointRules(
        List<NameTable> names,
        List<PositionTable> positions,
        List<IndexTable> indexes,
        List<NamePattern> computed,
        List<NamePattern> unexpected,
        List<NamePattern> missing,
        List<ClassRows> classRows) {

    /** Of a part that has no other names and no tables. */
    public static final CheckpointRules NONE =
            new CheckpointRules(
                    List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of());

    /** Keeps copies. */
    public CheckpointRules {
        names = ImmutableList.copyOf(names);
        positions = ImmutableList.copyOf(positions);
        indexes = ImmutableList.copyOf(indexes);
        computed = ImmutableList.copyOf(computed);
        unexpected = ImmutableList.copyOf(unexpected);
        missing = ImmutableList.copyOf(missing);
        classRows = ImmutableList.copyOf(classRows);
    }

    /** Returns these rules, then others. */
    public CheckpointRules and(CheckpointRules others) {
        return new CheckpointRules(
                joined(names, others.names),
                joined(positions, others.positions),
                joined(indexes, others.indexes),
                joined(computed, others.computed),
                joined(unexpected, others.unexpected),
                joined(missing, others.missing),
                joined(classRows, others.classRows));
    }

    /** Adds the names of other libraries. */
    public CheckpointRules withNames(NameTable... more) {
        return new CheckpointRules(
                joined(names, List.of(more)),
                positions,
                indexes,
                computed,
                unexpected,
                missing,
                classRows);
    }

    /** Adds tables of positions. */
    public CheckpointRules withPositions(PositionTable... more) {
        return new CheckpointRules(
                names,
                joined(positions, List.of(more)),
                indexes,
                computed,
                unexpected,
                missing,
                classRows);
    }

    /** Adds tables that are stored beside the weights. */
    public CheckpointRules withIndexes(IndexTable... more) {
        return new CheckpointRules(
                names,
                positions,
                joined(indexes, List.of(more)),
                computed,
                unexpected,
                missing,
                classRows);
    }

    /** Adds names of what is computed. */
    public CheckpointRules withComputed(String... more) {
        return new CheckpointRules(
                names,
                positions,
                indexes,
                joined(computed, patterns(more)),
                unexpected,
                missing,
                classRows);
    }

    /** Adds names of keys that need no place, which are then no longer reported as unexpected. */
    public CheckpointRules withUnexpected(String... more) {
        return new CheckpointRules(
                names,
                positions,
                indexes,
                computed,
                joined(unexpected, patterns(more)),
                missing,
                classRows);
    }

    /**
     * Adds names of parameters that such files lack, which are then no longer reported as missing.
     */
    public CheckpointRules withMissing(String... more) {
        return new CheckpointRules(
                names,
                positions,
                indexes,
                computed,
                unexpected,
                joined(missing, patterns(more)),
                classRows);
    }

    /** Adds layers with several rows per class. */
    public CheckpointRules withClassRows(ClassRows... more) {
        return new CheckpointRules(
                names,
                positions,
                indexes,
                computed,
                unexpected,
                missing,
                joined(classRows, List.of(more)));
    }

    private static List<NamePattern> patterns(String... names) {
        return Arrays.stream(names).map(NamePattern::new).toList();
    }

    private static <T> List<T> joined(List<T> some, List<T> others) {
        return Stream.concat(some.stream(), others.stream()).distinct().toList();
    }
}

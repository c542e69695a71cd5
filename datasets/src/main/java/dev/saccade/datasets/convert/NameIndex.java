package dev.saccade.datasets.convert;

import com.google.common.collect.ImmutableListMultimap;
import com.google.common.collect.Multimaps;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/** Paths by keys that several may share. */
final class NameIndex {

    private final ImmutableListMultimap<String, String> byKey;

    NameIndex(Iterable<String> paths, UnaryOperator<String> key) {
        this.byKey = Multimaps.index(paths, key::apply);
    }

    Set<String> keys() {
        return byKey.keySet();
    }

    /** Returns all paths of a key. */
    List<String> all(String key) {
        return byKey.get(key);
    }

    /** Returns the path of a key; nothing if there is none, or more than one. */
    Optional<String> only(String key) {
        List<String> paths = byKey.get(key);
        return paths.size() == 1 ? Optional.of(paths.get(0)) : Optional.empty();
    }
}

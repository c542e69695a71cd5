package dev.saccade.core.structures;

import static com.google.common.base.Preconditions.checkState;

import ai.djl.ndarray.NDArray;

import com.google.common.collect.ImmutableMap;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The loss terms of one training step; every head gives all its terms for every batch, 0 where
 * there is nothing to learn.
 *
 * @param terms scalars by name, in the order of the head
 * @param figures scalars that tell how training goes but are not learned from, such as an accuracy
 */
public record Losses(Map<String, NDArray> terms, Map<String, NDArray> figures) {

    /** Keeps copies of the maps. */
    public Losses {
        terms = ImmutableMap.copyOf(terms);
        figures = ImmutableMap.copyOf(figures);
        checkState(!terms.isEmpty(), "a head must give at least one loss term");
    }

    /** Makes losses without figures. */
    public Losses(Map<String, NDArray> terms) {
        this(terms, ImmutableMap.of());
    }

    /** Returns all arrays, terms and figures. */
    public List<NDArray> scalars() {
        return Stream.concat(terms.values().stream(), figures.values().stream()).toList();
    }

    /** Returns the sum of all terms, a scalar to go backward from. */
    public NDArray total() {
        NDArray total = null;
        for (NDArray term : terms.values()) {
            total = total == null ? term : total.add(term);
        }
        return total;
    }
}

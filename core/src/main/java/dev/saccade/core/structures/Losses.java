package dev.saccade.core.structures;

import static com.google.common.base.Preconditions.checkState;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The loss terms of one training step; every head gives all its terms for every batch, 0 where
 * there is nothing to learn.
 *
 * @param terms scalars by name, in the order of the head
 * @param metrics scalars that tell how training goes but are not learned from, such as an accuracy
 */
public record Losses(Map<String, NDArray> terms, Map<String, NDArray> metrics) {

    /**
     * Keeps copies of the maps.
     *
     * @throws SaccadeException of kind user, if one is no scalar
     */
    public Losses {
        terms = ImmutableMap.copyOf(terms);
        metrics = ImmutableMap.copyOf(metrics);
        checkState(!terms.isEmpty(), "losses: got no terms, expected at least one");
        terms.forEach(Losses::requireScalar);
        metrics.forEach(Losses::requireScalar);
    }

    /**
     * Returns a number that a part has computed.
     *
     * @param name of the part or the number
     * @throws SaccadeException of kind user that says by the name what was got, unless it is one
     *     float32
     */
    public static NDArray requireScalar(String name, NDArray number) {
        if (number.getDataType() != DataType.FLOAT32 || number.size() != 1) {
            throw SaccadeException.user(
                    "%s: got %s of shape %s, expected a float32 scalar",
                    name, number.getDataType(), number.getShape());
        }
        return number;
    }

    /** Makes losses without metrics. */
    public Losses(Map<String, NDArray> terms) {
        this(terms, ImmutableMap.of());
    }

    /** Returns all arrays, terms and metrics. */
    public List<NDArray> scalars() {
        return Stream.concat(terms.values().stream(), metrics.values().stream()).toList();
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

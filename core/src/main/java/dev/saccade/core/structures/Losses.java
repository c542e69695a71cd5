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
 * Loss terms of a training step and metrics that are only logged. A head must return the same terms
 * for every batch; use 0 if a batch has no samples for a term.
 */
public record Losses(Map<String, NDArray> terms, Map<String, NDArray> metrics) {

    /** Throws a user error if a term or metric is not a float32 scalar. */
    public Losses {
        terms = ImmutableMap.copyOf(terms);
        metrics = ImmutableMap.copyOf(metrics);
        checkState(!terms.isEmpty(), "losses: got no terms, expected at least one");
        terms.forEach(Losses::requireScalar);
        metrics.forEach(Losses::requireScalar);
    }

    /** Returns a float32 scalar unchanged; throws a user error for any other array. */
    public static NDArray requireScalar(String name, NDArray number) {
        if (number.getDataType() != DataType.FLOAT32 || number.size() != 1) {
            throw SaccadeException.user(
                    "%s: got %s of shape %s, expected a float32 scalar",
                    name, number.getDataType(), number.getShape());
        }
        return number;
    }

    public Losses(Map<String, NDArray> terms) {
        this(terms, ImmutableMap.of());
    }

    /** Returns the arrays of all terms and metrics. */
    public List<NDArray> scalars() {
        return Stream.concat(terms.values().stream(), metrics.values().stream()).toList();
    }

    /** Returns the sum of all terms. */
    public NDArray total() {
        NDArray total = null;
        for (NDArray term : terms.values()) {
            total = total == null ? term : total.add(term);
        }
        return total;
    }
}

package dev.saccade.core.structures;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.ImmutableDoubleArray;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Probabilities of the classes of an image.
 *
 * @param values one per class index; they sum to 1 for softmax, but not for sigmoid
 */
public record ClassScores(ImmutableDoubleArray values) {

    public ClassScores {
        checkArgument(!values.isEmpty(), "got no scores, expected one per class");
    }

    /** Returns the index of the class with the highest score; the lowest index on ties. */
    public int best() {
        int best = 0;
        for (int label = 1; label < size(); label++) {
            best = values.get(label) > values.get(best) ? label : best;
        }
        return best;
    }

    public double score(int label) {
        return values.get(label);
    }

    public int size() {
        return values.length();
    }

    /** Returns up to {@code count} class indices, highest score first; ties in ascending order. */
    public List<Integer> top(int count) {
        return IntStream.range(0, size())
                .boxed()
                .sorted(Comparator.comparingDouble((Integer label) -> -values.get(label)))
                .limit(count)
                .collect(ImmutableList.toImmutableList());
    }
}

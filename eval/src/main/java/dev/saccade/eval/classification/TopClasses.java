package dev.saccade.eval.classification;

import com.google.common.primitives.ImmutableIntArray;

import dev.saccade.core.structures.ClassScores;

/**
 * The best classes of an image.
 *
 * @param labels up to {@link #COUNT} class indices, highest score first
 * @param confidence score of the best class
 */
public record TopClasses(ImmutableIntArray labels, double confidence) {

    public static final int COUNT = 5;

    static TopClasses of(ClassScores scores) {
        return new TopClasses(
                ImmutableIntArray.copyOf(scores.top(COUNT)), scores.score(scores.best()));
    }

    public int best() {
        return labels.get(0);
    }

    boolean contains(int label, int count) {
        int index = labels.indexOf(label);
        return index >= 0 && index < count;
    }
}

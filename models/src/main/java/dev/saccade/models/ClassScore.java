package dev.saccade.models;

import dev.saccade.core.structures.ClassScores;

import java.util.List;

/**
 * A class of an image with its probability, from 0 to 1.
 *
 * @param classIndex index of the class in {@link Classifier#classes}
 */
public record ClassScore(String label, int classIndex, double score) {

    /** Returns up to {@code count} classes, highest probability first. */
    public static List<ClassScore> top(ClassScores scores, List<String> classes, int count) {
        return scores.top(count).stream()
                .map(label -> new ClassScore(classes.get(label), label, scores.score(label)))
                .toList();
    }
}

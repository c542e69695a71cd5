package dev.saccade.datasets.convert;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Finding;

import java.util.List;
import java.util.Optional;

/**
 * What a file of labels says about a photograph.
 *
 * @param photograph its path from the folder of the labels
 * @param file where the pixels are: the photograph, or a file of labels that has it inside
 * @param embedded whether {@code file} has it inside
 * @param place the file of the labels; and the line, if it holds those of others too
 * @param part what it is for, if that is known
 * @param declared the size that the labels say, if they say one
 * @param inFractions whether outlines are in fractions of the photograph, not in pixels
 * @param objects what is drawn on it
 * @param findings what is wrong so far
 */
record Drawing(
        String photograph,
        String file,
        boolean embedded,
        String place,
        Optional<Part> part,
        Optional<Size> declared,
        boolean inFractions,
        List<DrawnObject> objects,
        List<Finding> findings) {

    Drawing {
        objects = ImmutableList.copyOf(objects);
        findings = ImmutableList.copyOf(findings);
    }

    /** Returns it with what else is known of its part. */
    Drawing of(Optional<Part> part) {
        return new Drawing(
                photograph, file, embedded, place, part, declared, inFractions, objects, findings);
    }

    /** Returns it with other objects. */
    Drawing with(List<DrawnObject> others) {
        return new Drawing(
                photograph, file, embedded, place, part, declared, inFractions, others, findings);
    }
}

package dev.saccade.datasets.convert;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Finding;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A photograph with its labels as they were read.
 *
 * @param name its path from the folder of the labels
 * @param file where the pixels are: the photograph, or a file of labels that has it inside
 * @param embedded whether {@code file} has it inside
 * @param part what it is for, if the labels say so
 * @param size turned upright; 0 by 0 if it cannot be read
 * @param objects those on it, with ids of 0
 * @param map the file of its label map, where pixels are labeled
 * @param findings what is wrong
 */
public record LabeledPhoto(
        String name,
        Path file,
        boolean embedded,
        Optional<Part> part,
        Size size,
        List<Annotation> objects,
        Optional<Path> map,
        List<Finding> findings) {

    /** Keeps copies. */
    public LabeledPhoto {
        objects = ImmutableList.copyOf(objects);
        findings = ImmutableList.copyOf(findings);
    }

    /** Returns whether it cannot be used as it is. */
    public boolean isFaulty() {
        return findings.stream().anyMatch(f -> f.severity() == Finding.Severity.ERROR);
    }

    /** Returns it as part of a data set. */
    LabeledPhoto of(Part part) {
        return new LabeledPhoto(
                name, file, embedded, Optional.of(part), size, objects, map, findings);
    }
}

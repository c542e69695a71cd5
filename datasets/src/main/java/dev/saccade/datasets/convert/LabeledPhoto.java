package dev.saccade.datasets.convert;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Finding;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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
 * @param source the image that it is an augmented copy of, else its name; copies of one image
 *     belong in one part
 */
public record LabeledPhoto(
        String name,
        Path file,
        boolean embedded,
        Optional<Part> part,
        Size size,
        List<Annotation> objects,
        Optional<Path> map,
        List<Finding> findings,
        String source) {

    /** Roboflow's names of augmented copies: {@code a_jpg.rf.0123abcd.jpg}. */
    private static final Pattern COPY =
            Pattern.compile("(?:.*/)?([^/]+)\\.rf\\.[0-9A-Za-z_-]{8,}(?:\\.[^./]+)?");

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
                name, file, embedded, Optional.of(part), size, objects, map, findings, source);
    }

    /**
     * Returns the image that an image is an augmented copy of by its name, else its name.
     *
     * @param stated the source that labels state; empty if they state none
     */
    static String sourceOf(String name, String stated) {
        Matcher copy = COPY.matcher(name);
        return !stated.isEmpty() ? stated : copy.matches() ? copy.group(1) : name;
    }
}

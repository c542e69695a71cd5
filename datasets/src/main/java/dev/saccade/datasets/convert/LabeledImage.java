package dev.saccade.datasets.convert;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.Segmentation;
import dev.saccade.datasets.Split;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An image with its labels.
 *
 * @param name path relative to the folder of the labels
 * @param file file with the pixels: the image, or a label file that embeds it
 * @param embedded whether {@code file} is a label file
 * @param split empty if unknown
 * @param size upright; 0 by 0 if unreadable
 * @param objects objects, all with id 0
 * @param map the label map, if pixels are labeled
 * @param findings the first 100 by line, and a finding that counts the rest
 * @param source the original of an augmented image, otherwise its own name; copies of an image
 *     belong in one split
 */
public record LabeledImage(
        String name,
        Path file,
        boolean embedded,
        Optional<Split> split,
        Size size,
        List<Annotation> objects,
        Optional<Path> map,
        List<Finding> findings,
        String source) {

    /** Roboflow's names of augmented copies: {@code a_jpg.rf.0123abcd.jpg}. */
    private static final Pattern COPY =
            Pattern.compile("(?:.*/)?([^/]+)\\.rf\\.[0-9A-Za-z_-]{8,}(?:\\.[^./]+)?");

    /** Derives the source from the name if {@code source} is empty. */
    public LabeledImage {
        objects = ImmutableList.copyOf(objects);
        findings = ParsedImage.limited(findings);
        Matcher copy = COPY.matcher(name);
        source = !source.isEmpty() ? source : copy.matches() ? copy.group(1) : name;
    }

    public boolean isFaulty() {
        return findings.stream().anyMatch(Finding::isError);
    }

    /** Returns whether the image belongs to a split; training is the default. */
    public boolean isIn(Split other) {
        return split.orElse(Split.TRAIN) == other;
    }

    /** Returns the objects without crowds, ignored objects and empty masks. */
    List<Annotation> regularObjects() {
        return objects.stream()
                .filter(object -> !object.crowd() && !object.ignore())
                .filter(
                        object ->
                                !(object.segmentation() instanceof Segmentation.Runs runs)
                                        || runs.mask(size).area() > 0)
                .toList();
    }

    LabeledImage named(String other) {
        return new LabeledImage(other, file, embedded, split, size, objects, map, findings, source);
    }

    LabeledImage with(Split other) {
        return new LabeledImage(
                name, file, embedded, Optional.of(other), size, objects, map, findings, source);
    }
}

package dev.saccade.datasets.convert;

import com.google.common.base.Strings;
import com.google.common.collect.ImmutableList;

import dev.saccade.core.SeededRandom;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.Split;
import dev.saccade.datasets.convert.source.SourceFolder;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/**
 * The labels of a folder in any format.
 *
 * @param classes class names in the order of the labels
 * @param categoryIds id of each class in COCO's format
 * @param images sorted by name
 * @param pixels encoding of the label maps, if pixels are labeled instead of objects
 * @param imageClasses whether images have classes: the label of the only object of each image,
 *     which covers the image
 * @param notes notes for the user about decisions while reading, as full sentences
 * @param findings faults of the whole folder; images have their own
 */
public record SourceLabels(
        List<String> classes,
        List<Long> categoryIds,
        List<LabeledImage> images,
        Optional<PixelEncoding> pixels,
        boolean imageClasses,
        List<String> notes,
        List<Finding> findings) {

    public SourceLabels {
        classes = ImmutableList.copyOf(classes);
        categoryIds = ImmutableList.copyOf(categoryIds);
        images = ImmutableList.copyOf(images);
        notes = ImmutableList.copyOf(notes);
        findings = ImmutableList.copyOf(findings);
    }

    /** Returns the images of a split; images without a split are for training. */
    public List<LabeledImage> images(Split split) {
        return images.stream().filter(image -> image.isIn(split)).toList();
    }

    public SourceLabels withoutFaulty() {
        return with(images.stream().filter(image -> !image.isFaulty()).toList());
    }

    /**
     * Moves images from train to val. The choice depends only on the seed and the {@linkplain
     * LabeledImage#source source}, so adding images does not move others, and augmented copies stay
     * together. Moves at least one image and keeps at least one if possible.
     *
     * @param fraction expected fraction of images to move, above 0 and below 1
     */
    public SourceLabels withValidation(double fraction, long seed) {
        List<String> sources =
                images(Split.TRAIN).stream().map(LabeledImage::source).distinct().toList();
        ToDoubleFunction<String> sample = source -> SeededRandom.of(seed, source).nextDouble();
        Comparator<String> bySample = Comparator.comparingDouble(sample);
        Set<String> validation = new HashSet<>(sources);
        validation.removeIf(source -> sample.applyAsDouble(source) >= fraction);
        if (sources.size() > 1 && validation.isEmpty()) {
            sources.stream().min(bySample).ifPresent(validation::add);
        } else if (sources.size() > 1 && validation.size() == sources.size()) {
            sources.stream().max(bySample).ifPresent(validation::remove);
        }
        List<LabeledImage> moved = new ArrayList<>(images);
        moved.replaceAll(
                image ->
                        image.isIn(Split.TRAIN) && validation.contains(image.source())
                                ? image.with(Split.VAL)
                                : image);
        return with(moved);
    }

    /** Returns labels with image names relative to the deepest folder of all images. */
    SourceLabels withoutCommonFolder() {
        int start = commonFolder(images).length();
        return with(
                images.stream().map(image -> image.named(image.name().substring(start))).toList());
    }

    static String commonFolder(List<LabeledImage> images) {
        return images.stream()
                .map(image -> SourceFolder.parent(image.name()))
                .reduce((a, b) -> SourceFolder.parent(Strings.commonPrefix(a, b)))
                .orElse("");
    }

    private SourceLabels with(List<LabeledImage> others) {
        return new SourceLabels(
                classes, categoryIds, others, pixels, imageClasses, notes, findings);
    }

    public SourceLabels withCategoryIds(List<Long> ids) {
        return new SourceLabels(classes, ids, images, pixels, imageClasses, notes, findings);
    }
}

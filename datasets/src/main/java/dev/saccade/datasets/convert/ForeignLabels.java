package dev.saccade.datasets.convert;

import com.google.common.collect.ImmutableList;

import dev.saccade.datasets.Finding;

import java.util.List;
import java.util.Optional;

/**
 * What a folder of labels in a foreign format holds.
 *
 * @param classes the names of the classes; the label of a class is its position
 * @param categoryIds the id that COCO's format has for each class
 * @param photos the photographs, sorted by name
 * @param pixels what the label maps mean, where pixels are labeled and not objects
 * @param notes what was decided while reading, in sentences for the user
 * @param findings what is wrong beside what is wrong with single photographs
 */
public record ForeignLabels(
        List<String> classes,
        List<Long> categoryIds,
        List<LabeledPhoto> photos,
        Optional<PixelCode> pixels,
        List<String> notes,
        List<Finding> findings) {

    /** Keeps copies. */
    public ForeignLabels {
        classes = ImmutableList.copyOf(classes);
        categoryIds = ImmutableList.copyOf(categoryIds);
        photos = ImmutableList.copyOf(photos);
        notes = ImmutableList.copyOf(notes);
        findings = ImmutableList.copyOf(findings);
    }

    /** Returns the photographs of a part; those of none are to learn from. */
    public List<LabeledPhoto> photos(Part part) {
        return photos.stream()
                .filter(photo -> photo.part().orElse(Part.TRAIN) == part)
                .collect(ImmutableList.toImmutableList());
    }

    /** Returns it without the photographs that cannot be used. */
    public ForeignLabels withoutFaulty() {
        return with(photos.stream().filter(photo -> !photo.isFaulty()).toList());
    }

    /** Returns it with other photographs. */
    ForeignLabels with(List<LabeledPhoto> others) {
        return new ForeignLabels(classes, categoryIds, others, pixels, notes, findings);
    }

    /** Returns it with other ids of the classes. */
    ForeignLabels withCategoryIds(List<Long> ids) {
        return new ForeignLabels(classes, ids, photos, pixels, notes, findings);
    }
}

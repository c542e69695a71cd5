package dev.saccade.datasets.coco;

import com.google.common.collect.LinkedHashMultimap;
import com.google.common.collect.SetMultimap;
import com.google.common.collect.Sets;

import dev.saccade.core.Text;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.AnnotationTable.Category;
import dev.saccade.datasets.AnnotationTable.ImageRow;
import dev.saccade.datasets.AnnotationTable.Row;
import dev.saccade.datasets.check.Findings;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Checks the consistency of a COCO file: repeated ids or class names, unknown ids, file names that
 * leave the image folder, boxes that are not finite. Each fault prevents opening the data set.
 */
record CocoReferences(AnnotationTable table, String file, Path folder) {

    /** Reports every fault; selects all classes if {@code selectedClasses} is empty. */
    void check(List<String> selectedClasses, Findings findings) {
        checkContent(selectedClasses, findings);
        for (ImageRow image : table.images()) {
            if (locate(image.fileName()).isEmpty()) {
                findings.errorAt(
                        file,
                        "image " + image.id(),
                        "file_name \"%s\" is outside the image folder",
                        image.fileName());
            }
        }
    }

    void checkContent(List<String> selectedClasses, Findings findings) {
        findings.requireUnique(file, "image", table.images().stream().mapToLong(ImageRow::id));
        findings.requireUnique(file, "annotation", table.annotations().stream().mapToLong(Row::id));
        findings.requireUnique(
                file, "category", table.categories().stream().mapToLong(Category::id));
        checkNames(selectedClasses, findings);
        Set<Long> images = table.imagesById().keySet();
        Set<Long> categories = table.categories(List.of());
        for (Row row : table.annotations()) {
            String subject = "annotation " + row.id();
            if (!images.contains(row.imageId())) {
                findings.errorAt(
                        file, subject, "refers to image %d, which does not exist", row.imageId());
            }
            if (!categories.contains(row.categoryId())) {
                findings.errorAt(
                        file,
                        subject,
                        "refers to category %d, which does not exist",
                        row.categoryId());
            }
            if (!row.box().isFinite()) {
                findings.errorAt(file, subject, "bbox %s is not finite", row.box());
            }
        }
    }

    List<Path> files() {
        return table.images().stream()
                .map(image -> locate(image.fileName()).orElseThrow())
                .toList();
    }

    /** Returns the path of an image by its file name; empty if it is outside the folder. */
    Optional<Path> locate(String name) {
        try {
            Path inside = folder.resolve(name);
            Path root = folder.toAbsolutePath().normalize();
            return Optional.of(inside)
                    .filter(path -> path.toAbsolutePath().normalize().startsWith(root));
        } catch (InvalidPathException e) {
            return Optional.empty();
        }
    }

    private void checkNames(List<String> selectedClasses, Findings findings) {
        SetMultimap<String, Long> ids = LinkedHashMultimap.create();
        table.categories().forEach(category -> ids.put(category.name(), category.id()));
        for (String name : ids.keySet()) {
            if (ids.get(name).size() > 1) {
                findings.errorAt(
                        file,
                        ids.get(name).stream()
                                .map(this::withObjects)
                                .collect(Collectors.joining(", ", "categories ", "")),
                        "are all named \"%s\"; expected one category per class: give all objects"
                                + " of this class the same category_id, and remove the other"
                                + " categories",
                        name);
            }
        }
        for (String name : Sets.difference(new LinkedHashSet<>(selectedClasses), ids.keySet())) {
            findings.error(file, "class \"%s\" is not in the categories %s", name, ids.keySet());
        }
    }

    private String withObjects(long category) {
        long count =
                table.annotations().stream().filter(row -> row.categoryId() == category).count();
        return Text.format("%d (%d objects)", category, count);
    }
}

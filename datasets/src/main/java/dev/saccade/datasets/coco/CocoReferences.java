package dev.saccade.datasets.coco;

import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Sets;

import dev.saccade.core.Text;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.check.Findings;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Whether the parts of a COCO file fit together: ids or names of classes that occur twice, ids that
 * lead nowhere, file names that leave the folder of the images, boxes without numbers. A data set
 * with such a fault is not opened.
 */
final class CocoReferences {

    private final AnnotationTable table;
    private final String file;
    private final Path folder;

    CocoReferences(AnnotationTable table, String file, Path folder) {
        this.table = table;
        this.file = file;
        this.folder = folder;
    }

    /**
     * Reports every fault.
     *
     * @param wanted the names of the wanted classes; all if empty
     */
    void check(List<String> wanted, Findings findings) {
        checkContent(wanted, findings);
        checkFileNames(findings);
    }

    /** Reports likewise every fault but those of file names. */
    void checkContent(List<String> wanted, Findings findings) {
        findings.requireUnique(file, "image", table.imageIds());
        findings.requireUnique(file, "annotation", table.annotationIds());
        findings.requireUnique(file, "category", table.categoryIds());
        checkNames(wanted, findings);
        checkAnnotations(findings);
    }

    /** Returns the image files in the order of the images. */
    List<Path> files() {
        return table.fileNames().stream().map(name -> locate(name).orElseThrow()).toList();
    }

    /** Returns the file of a name; none if it leads out of the folder. */
    Optional<Path> locate(String name) {
        try {
            Path inside = folder.resolve(name);
            boolean stays =
                    inside.toAbsolutePath()
                            .normalize()
                            .startsWith(folder.toAbsolutePath().normalize());
            return stays ? Optional.of(inside) : Optional.empty();
        } catch (InvalidPathException e) {
            return Optional.empty();
        }
    }

    /** Two categories of one name would be two classes that nobody can tell apart. */
    private void checkNames(List<String> wanted, Consumer<Finding> findings) {
        Map<String, Set<Long>> idsOf = new LinkedHashMap<>();
        for (int i = 0; i < table.categoryNames().size(); i++) {
            idsOf.computeIfAbsent(table.categoryNames().get(i), name -> new LinkedHashSet<>())
                    .add(table.categoryIds().get(i));
        }
        idsOf.forEach(
                (name, ids) -> {
                    if (ids.size() > 1) {
                        findings.accept(
                                Finding.error(
                                        file,
                                        "categories "
                                                + ids.stream()
                                                        .map(id -> id + objects(id))
                                                        .collect(Collectors.joining(", ")),
                                        "are all named \""
                                                + name
                                                + "\"; expected one category a class: give all of"
                                                + " its objects one category_id, and remove the"
                                                + " others"));
                    }
                });
        Sets.difference(ImmutableSet.copyOf(wanted), idsOf.keySet())
                .forEach(
                        name ->
                                findings.accept(
                                        Finding.error(
                                                file,
                                                "",
                                                Text.format(
                                                        "class \"%s\" is not among its categories %s",
                                                        name, idsOf.keySet()))));
    }

    private String objects(long category) {
        long count = table.annotationCategoryIds().stream().filter(id -> id == category).count();
        return " (" + count + " objects)";
    }

    private void checkFileNames(Consumer<Finding> findings) {
        for (int i = 0; i < table.fileNames().size(); i++) {
            String name = table.fileNames().get(i);
            if (locate(name).isEmpty()) {
                findings.accept(
                        Finding.error(
                                file,
                                "image " + table.imageIds().get(i),
                                "file_name \"" + name + "\" leaves the folder of the images"));
            }
        }
    }

    private void checkAnnotations(Consumer<Finding> findings) {
        Set<Long> images = new HashSet<>(table.imageIds().asList());
        Set<Long> categories = new HashSet<>(table.categoryIds().asList());
        for (int row = 0; row < table.annotationIds().length(); row++) {
            String subject = "annotation " + table.annotationIds().get(row);
            long image = table.annotationImageIds().get(row);
            if (!images.contains(image)) {
                findings.accept(Finding.error(file, subject, "there is no image " + image));
            }
            long category = table.annotationCategoryIds().get(row);
            if (!categories.contains(category)) {
                findings.accept(Finding.error(file, subject, "there is no category " + category));
            }
            Annotation.Bbox box = table.box(row);
            if (!box.isFinite()) {
                findings.accept(Finding.error(file, subject, "bbox " + box + " is not finite"));
            }
        }
    }
}

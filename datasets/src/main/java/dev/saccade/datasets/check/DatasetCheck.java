package dev.saccade.datasets.check;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.AnnotationTable.Row;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.ClassName;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.DatasetStatistics;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.ImageLabelStatistics;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/** Checks an open data set, such as one created by a program. */
public final class DatasetCheck {

    private static final String DATA_SET = "data set";

    private final Dataset dataset;
    private final CheckOptions options;
    private final Findings findings = new Findings();
    private final List<Item> items = new ArrayList<>();

    private record Item(int index, ImageFile image) {}

    private DatasetCheck(Dataset dataset, CheckOptions options) {
        this.dataset = dataset;
        this.options = options;
    }

    /** Checks a data set and its images; {@link Dataset.Config#check} also checks label files. */
    public static DatasetReport run(Dataset dataset, CheckOptions options) {
        DatasetCheck check = new DatasetCheck(dataset, options);
        check.checkClasses();
        check.checkImages();
        DatasetStatistics statistics =
                switch (options.targets()) {
                    case BOXES, MASKS, MASKS_AND_LABEL_MAPS -> check.checkObjects();
                    case LABEL_MAPS -> check.checkPixels();
                    case CLASSES -> check.checkImageLabels();
                };
        return check.findings.report(statistics);
    }

    @FormatMethod
    private void error(String subject, @FormatString String message, Object... args) {
        findings.errorAt(DATA_SET, subject, message, args);
    }

    private void checkClasses() {
        if (dataset.classes().isEmpty()) {
            error("", "has no classes");
        }
        Set<String> seen = new HashSet<>();
        dataset.classes().stream()
                .filter(name -> !seen.add(name))
                .forEach(name -> error("", "class \"%s\" occurs twice", name));
    }

    private void checkImages() {
        for (int i = 0; i < dataset.size(); i++) {
            try {
                items.add(new Item(i, dataset.image(i)));
            } catch (SaccadeException e) {
                error("image at index " + i, "%s", e.getMessage());
            }
        }
        if (dataset.size() == 0) {
            error("", "has no images");
        }
        findings.requireUnique(
                DATA_SET, "image", items.stream().mapToLong(item -> item.image.id()));
    }

    private DatasetStatistics checkPixels() {
        List<String> classes = dataset.classes();
        return LabelCheck.run(
                DATA_SET,
                classes,
                items,
                item -> checkLabels(item, classes.size(), ImageCheck.findings(item.image, options)),
                options,
                findings);
    }

    private DatasetStatistics checkImageLabels() {
        List<String> classes = dataset.classes();
        int[] counts = new int[classes.size()];
        for (Item item : items) {
            String subject = Text.format("image %d (%s)", item.image.id(), item.image.file());
            OptionalInt label = dataset.label(item.index);
            if (label.isEmpty()) {
                error(subject, "has no class, but the model classifies images");
            } else if (label.getAsInt() < 0 || label.getAsInt() >= classes.size()) {
                error(
                        subject,
                        "got label %d, expected 0 to %d",
                        label.getAsInt(),
                        classes.size() - 1);
            } else {
                counts[label.getAsInt()]++;
            }
        }
        checkSimilarClasses();
        ImageCheck.run(items.stream().map(Item::image).toList(), options, findings);
        Map<String, Integer> perClass = new LinkedHashMap<>();
        for (int label = 0; label < counts.length; label++) {
            perClass.put(classes.get(label), counts[label]);
            if (counts[label] == 0) {
                findings.warning(
                        DATA_SET,
                        "class \"%s\" has no images; remove the class",
                        classes.get(label));
            }
        }
        return new ImageLabelStatistics(perClass);
    }

    private void checkSimilarClasses() {
        Map<String, String> seen = new HashMap<>();
        for (String name : dataset.classes()) {
            String other = seen.putIfAbsent(ClassName.of(name).toLowerCase(Locale.ROOT), name);
            if (other != null && !other.equals(name)) {
                findings.warning(
                        DATA_SET,
                        "the classes \"%s\" and \"%s\" differ only in case, spaces or Unicode form;"
                                + " merge them if they mean the same",
                        other,
                        name);
            }
        }
    }

    private DatasetStatistics checkObjects() {
        AnnotationTable.Builder builder = new AnnotationTable.Builder();
        for (int label = 0; label < dataset.classes().size(); label++) {
            builder.addCategory(label, dataset.classes().get(label));
        }
        for (Item item : items) {
            ImageFile image = item.image;
            builder.addImage(image.id(), image.file().toString(), image.size());
            for (Annotation annotation : dataset.annotations(item.index)) {
                builder.addAnnotation(image.id(), annotation.label(), annotation);
                checkAnnotation(image, annotation);
            }
        }
        AnnotationTable table = builder.build();
        findings.requireUnique(
                DATA_SET, "annotation", table.annotations().stream().mapToLong(Row::id));
        Set<Long> selectedIds = table.categories(List.of());
        Set<Long> masked = options.targets().hasMasks() ? selectedIds : Set.of();
        new ObjectCheck(table, DATA_SET, selectedIds, masked).check(findings);
        SmallObjects.warning(table, DATA_SET, selectedIds, options.transforms())
                .ifPresent(findings);
        ImageCheck.run(items.stream().map(Item::image).toList(), options, findings);
        if (options.targets().hasLabelMaps()) {
            int classes = dataset.semanticClasses();
            Optional<String> fault =
                    LabelCheck.fault(classes, options, "semanticClasses() of the data set");
            if (fault.isPresent()) {
                error("", "%s", fault.get());
            } else {
                LabelCheck.run(
                        items,
                        item -> checkLabels(item, classes, new ArrayList<>()),
                        options,
                        findings);
            }
        }
        return ObjectCounts.count(table, List.of());
    }

    private void checkAnnotation(ImageFile image, Annotation annotation) {
        String subject =
                Text.format(
                        "annotation %d of image %d (%s)",
                        annotation.id(), image.id(), image.file());
        if (annotation.label() < -1 || annotation.label() >= dataset.classes().size()) {
            error(
                    subject,
                    "got label %d, expected 0 to %d, or -1 for a class that is not selected",
                    annotation.label(),
                    dataset.classes().size() - 1);
        }
        if (!annotation.box().isFinite()) {
            error(subject, "bbox is not finite");
        }
    }

    private LabelCheck.Result checkLabels(Item item, int classes, List<Finding> found) {
        ImageFile image = item.image;
        String subject = Text.format("labels of image %d (%s)", image.id(), image.file());
        try {
            LabelMap labels = dataset.labels(item.index);
            if (!labels.size().equals(image.size())) {
                throw SaccadeException.user(
                        "are %s (height x width), but the image is %s",
                        labels.size(), image.size());
            }
            long[] counts = labels.histogram(classes);
            return LabelCheck.Result.of(found, DATA_SET, subject, counts, labels.size().area());
        } catch (SaccadeException | IllegalArgumentException e) {
            found.add(Finding.error(DATA_SET, subject, e.getMessage()));
            return new LabelCheck.Result(found, Optional.empty());
        }
    }
}

package dev.saccade.datasets.check;

import com.google.common.primitives.ImmutableLongArray;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.DatasetStatistics;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ImageFile;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;

/** Finds every fault of a data set that is there already, such as one that a program made. */
public final class DatasetCheck {

    private static final String DATA_SET = "data set";

    private final Dataset dataset;
    private final CheckOptions options;
    private final Findings findings = new Findings();
    private final List<Integer> indices = new ArrayList<>();
    private final List<ImageFile> photos = new ArrayList<>();

    private DatasetCheck(Dataset dataset, CheckOptions options) {
        this.dataset = dataset;
        this.options = options;
    }

    /**
     * Returns what the data set holds and all that is wrong with it; nothing is thrown for it.
     * Faults that only its files can tell are found by the check of its {@link Dataset.Config}.
     */
    public static DatasetReport run(Dataset dataset, CheckOptions options) {
        DatasetCheck check = new DatasetCheck(dataset, options);
        check.checkClasses();
        check.checkPhotos();
        DatasetStatistics held =
                options.targets().hasObjects() ? check.checkObjects() : check.checkLabels();
        return check.findings.report(held);
    }

    private void error(String subject, String message) {
        findings.accept(Finding.error(DATA_SET, subject, message));
    }

    private void checkClasses() {
        if (dataset.classes().isEmpty()) {
            error("", "has no classes");
        }
        Set<String> seen = new HashSet<>();
        dataset.classes().stream()
                .filter(name -> !seen.add(name))
                .forEach(name -> error("", "class \"" + name + "\" comes twice"));
    }

    private void checkPhotos() {
        for (int i = 0; i < dataset.size(); i++) {
            try {
                photos.add(dataset.image(i));
                indices.add(i);
            } catch (SaccadeException e) {
                error("photograph " + i, e.getMessage());
            }
        }
        if (dataset.size() == 0) {
            error("", "has no photographs");
        }
        ImmutableLongArray ids =
                ImmutableLongArray.copyOf(photos.stream().mapToLong(ImageFile::id));
        findings.requireUnique(DATA_SET, "image", ids);
    }

    private DatasetStatistics checkObjects() {
        AnnotationTable.Builder builder = new AnnotationTable.Builder();
        for (int label = 0; label < dataset.classes().size(); label++) {
            builder.addCategory(label, dataset.classes().get(label));
        }
        for (int i = 0; i < photos.size(); i++) {
            ImageFile photo = photos.get(i);
            builder.addImage(photo.id(), photo.file().toString(), photo.size());
            for (Annotation annotation : dataset.annotations(indices.get(i))) {
                builder.addAnnotation(photo.id(), annotation.label(), annotation);
                checkAnnotation(photo, annotation);
            }
        }
        AnnotationTable table = builder.build();
        findings.requireUnique(DATA_SET, "annotation", table.annotationIds());
        Set<Long> wanted = table.categories(List.of());
        Set<Long> masked = options.targets().hasMasks() ? wanted : Set.of();
        new ObjectCheck(table, DATA_SET, wanted, masked).check(findings);
        SmallObjects.warning(table, DATA_SET, wanted, options.transforms()).ifPresent(findings);
        ImageCheck.run(photos, options, findings);
        if (options.targets().hasLabelMaps()) {
            checkLabelsBesideObjects();
        }
        return ObjectCounter.count(table, List.of());
    }

    private void checkAnnotation(ImageFile photo, Annotation annotation) {
        String subject =
                Text.format(
                        "annotation %d of image %d (%s)",
                        annotation.id(), photo.id(), photo.file());
        if (annotation.label() < -1 || annotation.label() >= dataset.classes().size()) {
            error(
                    subject,
                    Text.format(
                            "label %d, expected 0 to %d, or -1 for a class that is not wanted",
                            annotation.label(), dataset.classes().size() - 1));
        }
        if (!annotation.box().isFinite()) {
            error(subject, "its box is not finite");
        }
    }

    private void checkLabelsBesideObjects() {
        int classes = dataset.semanticClasses();
        Optional<String> fault =
                SemanticClasses.fault(classes, options, "semanticClasses() of the data set");
        fault.ifPresent(message -> error("", message));
        if (fault.isEmpty()) {
            List<Callable<LabelCheck.Found>> checks = new ArrayList<>();
            for (int i = 0; i < photos.size(); i++) {
                ImageFile photo = photos.get(i);
                int index = indices.get(i);
                checks.add(() -> checkLabels(photo, index, classes, new ArrayList<>()));
            }
            LabelCheck.run(checks, options, findings);
        }
    }

    private DatasetStatistics checkLabels() {
        List<Callable<LabelCheck.Found>> checks = new ArrayList<>();
        for (int i = 0; i < photos.size(); i++) {
            ImageFile photo = photos.get(i);
            int index = indices.get(i);
            checks.add(
                    () ->
                            checkLabels(
                                    photo,
                                    index,
                                    dataset.classes().size(),
                                    ImageCheck.findings(photo, options)));
        }
        return LabelCheck.run(DATA_SET, dataset.classes(), checks, options, findings);
    }

    private LabelCheck.Found checkLabels(
            ImageFile photo, int index, int classes, List<Finding> found) {
        String subject = Text.format("labels of image %d (%s)", photo.id(), photo.file());
        try {
            LabelMap labels = dataset.labels(index);
            if (!labels.size().equals(photo.size())) {
                throw SaccadeException.user(
                        "are %s (height x width), but the photograph is %s",
                        labels.size(), photo.size());
            }
            long[] counts = labels.histogram(classes);
            LabelCheck.warning(DATA_SET, subject, counts, labels.size().area())
                    .ifPresent(found::add);
            return new LabelCheck.Found(found, Optional.of(counts));
        } catch (SaccadeException | IllegalArgumentException e) {
            found.add(Finding.error(DATA_SET, subject, e.getMessage()));
            return new LabelCheck.Found(found, Optional.empty());
        }
    }
}

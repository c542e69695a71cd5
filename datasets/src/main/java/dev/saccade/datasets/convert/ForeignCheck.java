package dev.saccade.datasets.convert;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.DatasetStatistics;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.ObjectStatistics;
import dev.saccade.datasets.check.Findings;
import dev.saccade.datasets.check.ImageCheck;
import dev.saccade.datasets.check.LabelCheck;
import dev.saccade.datasets.check.ObjectCounter;
import dev.saccade.datasets.check.PartComparison;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;

/** Says what labels of a foreign format hold and all that is wrong with them. */
public final class ForeignCheck {

    private final ForeignLabels labels;
    private final CheckOptions options;

    private ForeignCheck(ForeignLabels labels, CheckOptions options) {
        this.labels = labels;
        this.options = options;
    }

    /**
     * Returns a report for each part that has photographs; faults that concern all of them are in
     * the first.
     *
     * @param folder what stands for the data set as a whole
     * @param options of which {@code targets} does not matter: what is labeled is checked
     */
    public static Map<Part, DatasetReport> run(
            Path folder, ForeignLabels labels, CheckOptions options) {
        Map<Part, DatasetReport> reports = new EnumMap<>(Part.class);
        PartComparison comparison = new PartComparison();
        for (Part part : Part.values()) {
            ForeignCheck check =
                    new ForeignCheck(labels, options.with(comparison.part(part.key())));
            List<LabeledPhoto> photos = labels.photos(part);
            boolean isFirst = reports.isEmpty();
            if (!photos.isEmpty() || (isFirst && part == Part.TEST)) {
                Findings findings = new Findings();
                if (isFirst) {
                    labels.findings().forEach(findings);
                }
                photos.forEach(photo -> photo.findings().forEach(findings));
                reports.put(part, findings.report(check.held(folder, photos, findings)));
            }
        }
        comparison.complete(reports, Part::key);
        return reports;
    }

    /** Returns how many photographs and objects there are, without a look at pixels. */
    public static ObjectStatistics count(ForeignLabels labels) {
        return ObjectCounter.count(table(labels, labels.photos()), List.of());
    }

    /** Returns likewise how many images and objects a part has. */
    public static ObjectStatistics count(ForeignLabels labels, Part part) {
        return ObjectCounter.count(table(labels, labels.photos(part)), List.of());
    }

    private DatasetStatistics held(Path folder, List<LabeledPhoto> photos, Findings findings) {
        if (labels.pixels().isPresent()) {
            List<Callable<LabelCheck.Found>> checks = new ArrayList<>();
            photos.stream()
                    .filter(photo -> !photo.isFaulty())
                    .forEach(photo -> checks.add(() -> pixels(photo)));
            return LabelCheck.run(folder.toString(), labels.classes(), checks, options, findings);
        }
        List<ImageFile> files = new ArrayList<>();
        for (LabeledPhoto photo : photos) {
            if (!photo.embedded() && !photo.isFaulty()) {
                files.add(new ImageFile(files.size() + 1L, photo.file(), photo.size()));
            }
        }
        ImageCheck.run(files, options, findings);
        return ObjectCounter.count(table(labels, photos), List.of());
    }

    private static AnnotationTable table(ForeignLabels labels, List<LabeledPhoto> photos) {
        AnnotationTable.Builder table = new AnnotationTable.Builder();
        for (int label = 0; label < labels.classes().size(); label++) {
            table.addCategory(label, labels.classes().get(label));
        }
        for (int i = 0; i < photos.size(); i++) {
            LabeledPhoto photo = photos.get(i);
            table.addImage(i, photo.name(), photo.size());
            for (var object : photo.objects()) {
                table.addAnnotation(i, object.label(), object);
            }
        }
        return table.build();
    }

    private LabelCheck.Found pixels(LabeledPhoto photo) {
        List<Finding> found = new ArrayList<>();
        String file = photo.map().orElseThrow().toString();
        ImageCheck.run(photo.file(), options, found::add);
        if (labels.pixels().orElseThrow() instanceof PixelCode.Numbers) {
            options.files().labelMap(Path.of(file));
        }
        try {
            LabelMap map = labels.pixels().orElseThrow().read(Path.of(file));
            long[] counts = map.histogram(labels.classes().size());
            LabelCheck.warning(file, "", counts, map.size().area()).ifPresent(found::add);
            return new LabelCheck.Found(found, Optional.of(counts));
        } catch (SaccadeException e) {
            found.add(Finding.error(file, e));
            return new LabelCheck.Found(found, Optional.empty());
        }
    }
}

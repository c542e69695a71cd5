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
import dev.saccade.datasets.Split;
import dev.saccade.datasets.check.Findings;
import dev.saccade.datasets.check.ImageCheck;
import dev.saccade.datasets.check.LabelCheck;
import dev.saccade.datasets.check.ObjectCounts;
import dev.saccade.datasets.check.SplitComparison;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Checks labels in any format. */
public final class SourceCheck {

    private SourceCheck() {}

    /** Returns a report per split; faults of the whole folder are in the first report. */
    public static Map<Split, DatasetReport> run(
            Path folder, SourceLabels labels, CheckOptions options) {
        Map<Split, DatasetReport> reports = new EnumMap<>(Split.class);
        SplitComparison comparison = new SplitComparison();
        for (Split split : Split.values()) {
            List<LabeledImage> images = labels.images(split);
            boolean isFirst = reports.isEmpty();
            if (!images.isEmpty() || (isFirst && split == Split.TEST)) {
                Findings findings = new Findings();
                if (isFirst) {
                    labels.findings().forEach(findings);
                }
                images.forEach(image -> image.findings().forEach(findings));
                CheckOptions ofSplit = options.with(comparison.split(split.key()));
                reports.put(
                        split, findings.report(check(folder, labels, images, ofSplit, findings)));
            }
        }
        comparison.complete(reports, Split::key);
        return reports;
    }

    public static ObjectStatistics count(SourceLabels labels) {
        return count(labels, labels.images());
    }

    public static ObjectStatistics count(SourceLabels labels, Split split) {
        return count(labels, labels.images(split));
    }

    private static ObjectStatistics count(SourceLabels labels, List<LabeledImage> images) {
        AnnotationTable.Builder table = new AnnotationTable.Builder();
        for (int label = 0; label < labels.classes().size(); label++) {
            table.addCategory(label, labels.classes().get(label));
        }
        for (int i = 0; i < images.size(); i++) {
            int id = i;
            LabeledImage image = images.get(i);
            table.addImage(id, image.name(), image.size());
            image.objects().forEach(object -> table.addAnnotation(id, object.label(), object));
        }
        return ObjectCounts.count(table.build(), List.of());
    }

    private static DatasetStatistics check(
            Path folder,
            SourceLabels labels,
            List<LabeledImage> all,
            CheckOptions options,
            Findings findings) {
        List<LabeledImage> images = all.stream().filter(image -> !image.isFaulty()).toList();
        if (labels.pixels().isPresent()) {
            return LabelCheck.run(
                    folder.toString(),
                    labels.classes(),
                    images,
                    image -> checkPixels(labels, image, options),
                    options,
                    findings);
        }
        List<ImageFile> files = new ArrayList<>();
        for (LabeledImage image : images) {
            if (!image.embedded()) {
                files.add(new ImageFile(files.size() + 1L, image.file(), image.size()));
            }
        }
        ImageCheck.run(files, options, findings);
        return count(labels, all);
    }

    private static LabelCheck.Result checkPixels(
            SourceLabels labels, LabeledImage image, CheckOptions options) {
        List<Finding> found = new ArrayList<>();
        Path file = image.map().orElseThrow();
        PixelEncoding code = labels.pixels().orElseThrow();
        ImageCheck.run(image.file(), options, found::add);
        if (!code.areColors()) {
            options.files().labelMap(file);
        }
        try {
            LabelMap map = code.read(file);
            long[] counts = map.histogram(labels.classes().size());
            return LabelCheck.Result.of(found, file.toString(), "", counts, map.size().area());
        } catch (SaccadeException e) {
            found.add(Finding.error(file.toString(), e));
            return new LabelCheck.Result(found, Optional.empty());
        }
    }
}

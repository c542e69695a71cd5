package dev.saccade.datasets.coco;

import com.google.common.collect.Iterables;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.AnnotationTable.ImageRow;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.check.Findings;
import dev.saccade.datasets.check.ImageCheck;
import dev.saccade.datasets.check.ObjectCheck;
import dev.saccade.datasets.check.ObjectCounts;
import dev.saccade.datasets.check.SmallObjects;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Checks the annotations, images and label maps of a COCO data set. */
record CocoCheck(
        Path annotations, Path images, List<String> classes, Optional<LabelMaps> labelMaps) {

    DatasetReport run(CheckOptions options) {
        Findings findings = new Findings();
        String file = annotations.toString();
        if (!options.targets().hasObjects()) {
            findings.error(
                    file,
                    "has labeled objects, but the model predicts a class per %s; train a detector,"
                            + " or use another data set",
                    options.targets() == TargetKind.CLASSES ? "image" : "pixel");
        }
        AnnotationTable table;
        try {
            table = CocoReader.read(annotations, findings);
        } catch (SaccadeException e) {
            findings.accept(Finding.error(file, e));
            table = new AnnotationTable.Builder().build();
        }
        CocoReferences references = new CocoReferences(table, file, images);
        references.check(classes, findings);
        Set<Long> selected = table.categories(classes);
        Set<Long> masked = options.targets().hasMasks() ? selected : Set.of();
        new ObjectCheck(table, file, selected, masked).check(findings);
        SmallObjects.warning(table, file, selected, options.transforms()).ifPresent(findings);
        checkImages(references, options, findings);
        return findings.report(ObjectCounts.count(table, classes));
    }

    private void checkImages(CocoReferences references, CheckOptions options, Findings findings) {
        Map<ImageFile, String> names = new LinkedHashMap<>();
        List<ImageFile> files = new ArrayList<>();
        for (ImageRow row : references.table().images()) {
            Optional<Path> path = references.locate(row.fileName());
            if (path.isPresent()) {
                files.add(new ImageFile(row.id(), path.get(), row.size()));
                names.put(Iterables.getLast(files), row.fileName());
            }
        }
        if (files.size() > 1 && files.stream().noneMatch(image -> Files.exists(image.file()))) {
            findings.error(
                    images.toString(),
                    "has none of the %d images; the first is expected at %s; set data.train.images"
                            + " or data.val.images to the folder that file_name is relative to",
                    files.size(),
                    files.get(0).file());
            return;
        }
        ImageCheck.run(files, options, findings);
        if (options.targets().hasObjects() && options.targets().hasLabelMaps()) {
            LabelMaps.check(labelMaps, annotations.toString(), names, options, findings);
        }
    }
}

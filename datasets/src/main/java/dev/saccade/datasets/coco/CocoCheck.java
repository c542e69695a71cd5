package dev.saccade.datasets.coco;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.AnnotationTable;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Finds every fault of a COCO data set in one pass over its annotations and images. */
final class CocoCheck {

    private final Path annotations;
    private final Path images;
    private final List<String> classes;
    private final Optional<LabelMaps> labelMaps;
    private final Findings findings = new Findings();

    private CocoCheck(
            Path annotations, Path images, List<String> classes, Optional<LabelMaps> labelMaps) {
        this.annotations = annotations;
        this.images = images;
        this.classes = classes;
        this.labelMaps = labelMaps;
    }

    /**
     * Returns what the data set holds and all that is wrong with it; nothing is thrown for it.
     *
     * @param classes the wanted classes; all if empty
     * @param labelMaps where the label maps beside the objects are, if there are any
     */
    static DatasetReport run(
            Path annotations,
            Path images,
            List<String> classes,
            Optional<LabelMaps> labelMaps,
            CheckOptions options) {
        return new CocoCheck(annotations, images, classes, labelMaps).run(options);
    }

    private DatasetReport run(CheckOptions options) {
        String file = annotations.toString();
        if (!options.targets().hasObjects()) {
            findings.accept(
                    Finding.error(
                            file,
                            "",
                            "objects are labeled, but the model learns the class of every pixel"));
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
        Set<Long> wanted = table.categories(classes);
        Set<Long> masked = options.targets().hasMasks() ? wanted : Set.of();
        new ObjectCheck(table, file, wanted, masked).check(findings);
        SmallObjects.warning(table, file, wanted, options.transforms()).ifPresent(findings);
        checkImages(table, references, options);
        return findings.report(ObjectCounts.count(table, classes));
    }

    private void checkImages(
            AnnotationTable table, CocoReferences references, CheckOptions options) {
        Map<Integer, ImageFile> photos = new LinkedHashMap<>();
        for (int i = 0; i < table.fileNames().size(); i++) {
            Optional<Path> file = references.locate(table.fileNames().get(i));
            if (file.isPresent()) {
                long id = table.imageIds().get(i);
                photos.put(i, new ImageFile(id, file.get(), table.imageSize(i)));
            }
        }
        List<ImageFile> all = List.copyOf(photos.values());
        if (all.size() > 1 && all.stream().noneMatch(photo -> Files.exists(photo.file()))) {
            findings.accept(
                    Finding.error(
                            images.toString(),
                            "",
                            Text.format(
                                            "has none of the %d photographs, the first of which is"
                                                    + " expected at %s;",
                                            all.size(), all.get(0).file())
                                    + " data.train.images or data.val.images names the folder that"
                                    + " file_name starts from"));
        } else {
            ImageCheck.run(all, options, findings);
            if (options.targets().hasObjects() && options.targets().hasLabelMaps()) {
                String file = annotations.toString();
                LabelMaps.check(labelMaps, file, table, photos, options, findings);
            }
        }
    }
}

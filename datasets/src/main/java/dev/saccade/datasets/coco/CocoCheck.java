package dev.saccade.datasets.coco;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.parts.TargetKind;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.Photo;
import dev.saccade.datasets.check.Findings;
import dev.saccade.datasets.check.ImageCheck;
import dev.saccade.datasets.check.ObjectCheck;
import dev.saccade.datasets.check.ObjectCounter;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Finds every fault of a COCO data set in one pass over its annotations and images. */
final class CocoCheck {

    private final Path annotations;
    private final Path images;
    private final List<String> classes;
    private final Findings findings = new Findings();

    private CocoCheck(Path annotations, Path images, List<String> classes) {
        this.annotations = annotations;
        this.images = images;
        this.classes = classes;
    }

    /**
     * Returns what the data set holds and all that is wrong with it; nothing is thrown for it.
     *
     * @param classes the wanted classes; all if empty
     */
    static DatasetReport run(
            Path annotations, Path images, List<String> classes, CheckOptions options) {
        return new CocoCheck(annotations, images, classes).run(options);
    }

    private DatasetReport run(CheckOptions options) {
        String file = annotations.toString();
        if (options.targets() == TargetKind.LABEL_MAPS) {
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
        Set<Long> masked = options.targets() == TargetKind.MASKS ? wanted : Set.of();
        new ObjectCheck(table, file, wanted, masked).check(findings);
        checkImages(table, references, options);
        return findings.report(ObjectCounter.count(table, classes));
    }

    private void checkImages(
            AnnotationTable table, CocoReferences references, CheckOptions options) {
        List<Photo> photos = new ArrayList<>();
        for (int i = 0; i < table.fileNames().size(); i++) {
            Optional<Path> file = references.locate(table.fileNames().get(i));
            if (file.isPresent()) {
                long id = table.imageIds().get(i);
                photos.add(new Photo(id, file.get(), table.imageSize(i)));
            }
        }
        if (photos.size() > 1 && photos.stream().noneMatch(photo -> Files.exists(photo.file()))) {
            findings.accept(
                    Finding.error(
                            images.toString(),
                            "",
                            "has none of the %d photographs, the first of which is expected at %s;"
                                            .formatted(photos.size(), photos.get(0).file())
                                    + " data.train.images or data.val.images names the folder that"
                                    + " file_name starts from"));
        } else {
            ImageCheck.run(photos, options, findings);
        }
    }
}

package dev.saccade.datasets.coco;

import dev.saccade.core.Text;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.check.DataFolder;
import dev.saccade.datasets.check.Findings;
import dev.saccade.datasets.check.LabelCheck;
import dev.saccade.datasets.check.SemanticClasses;
import dev.saccade.datasets.labels.LabelCode;
import dev.saccade.datasets.labels.LabelFile;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;

/**
 * The label maps beside the objects of COCO, as those of COCO-Stuff: a PNG of the name of each
 * photograph, whose numbers are classes, with 255 for none.
 *
 * @param folder where they lie, in the subfolders of the photographs
 * @param classes how many classes they have
 */
record LabelMaps(Path folder, int classes) {

    private static final int NO_CLASS = 255;
    private static final String HINT = "label_map_classes is their number";

    /** Returns what the numbers mean. */
    LabelCode code() {
        return new LabelCode(classes, /* reduceZeroLabel= */ false, NO_CLASS, HINT);
    }

    /**
     * Returns the label map of a photograph.
     *
     * @param fileName of the photograph, which stays in its folder
     */
    LabelFile of(ImageFile photo, String fileName) {
        int end = fileName.lastIndexOf('.');
        boolean hasEnding = end > fileName.lastIndexOf('/') + 1;
        String stem = hasEnding ? fileName.substring(0, end) : fileName;
        return new LabelFile(photo.file(), folder.resolve(stem + ".png"));
    }

    /** Reads the label map of a photograph. */
    LabelMap read(ImageFile photo, String fileName) {
        return of(photo, fileName).read(code(), photo.size());
    }

    /**
     * Reports all that is wrong with the label maps of photographs.
     *
     * @param maps where they are, if the data set has any
     * @param file the annotations
     * @param photos by the positions of their images in the table
     */
    static void check(
            Optional<LabelMaps> maps,
            String file,
            AnnotationTable table,
            Map<Integer, ImageFile> photos,
            CheckOptions options,
            Findings findings) {
        int classes = maps.map(LabelMaps::classes).orElse(0);
        Optional<String> fault =
                SemanticClasses.fault(classes, options, "label_map_classes of data.train");
        if (fault.isPresent()) {
            String place = maps.map(each -> each.folder.toString()).orElse(file);
            findings.accept(Finding.error(place, "", fault.get()));
        } else {
            maps.orElseThrow().check(table, photos, options, findings);
        }
    }

    private void check(
            AnnotationTable table,
            Map<Integer, ImageFile> photos,
            CheckOptions options,
            Findings findings) {
        if (!Files.isDirectory(folder)) {
            findings.accept(
                    Finding.error(
                            folder.toString(),
                            "",
                            "no such folder (data.train.label_maps of a config)"
                                    + DataFolder.inPlaceOf(folder)));
            return;
        }
        LabelCode code = code();
        List<Callable<LabelCheck.Found>> checks = new ArrayList<>();
        photos.forEach(
                (index, photo) ->
                        checks.add(
                                () ->
                                        check(
                                                code,
                                                of(photo, table.fileNames().get(index)),
                                                photo.size())));
        LabelCheck.run(checks, options, findings);
    }

    private static LabelCheck.Found check(LabelCode code, LabelFile map, Size photo) {
        if (!Files.exists(map.labels())) {
            Finding missing =
                    Finding.error(
                            map.photo().toString(),
                            "",
                            Text.format("has no label map, expected %s", map.labels()));
            return new LabelCheck.Found(List.of(missing), Optional.empty());
        }
        return map.check(code, Optional.of(photo));
    }
}

package dev.saccade.datasets.coco;

import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.check.DataFolder;
import dev.saccade.datasets.check.Findings;
import dev.saccade.datasets.check.LabelCheck;
import dev.saccade.datasets.labels.LabelEncoding;
import dev.saccade.datasets.labels.LabelFile;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Label maps of a COCO data set, such as COCO-Stuff's: PNGs named like the images, whose values are
 * class indices, with 255 for no class.
 */
record LabelMaps(Path folder, int classes) {

    private static final int NO_CLASS = 255;
    private static final String HINT = "label_map_classes is the number of classes";

    LabelEncoding code() {
        return new LabelEncoding(classes, /* reduceZeroLabel= */ false, NO_CLASS, HINT);
    }

    LabelFile of(ImageFile image, String fileName) {
        int end = fileName.lastIndexOf('.');
        boolean hasEnding = end > fileName.lastIndexOf('/') + 1;
        String stem = hasEnding ? fileName.substring(0, end) : fileName;
        return new LabelFile(image.file(), folder.resolve(stem + ".png"));
    }

    LabelMap read(ImageFile image, String fileName) {
        return of(image, fileName).read(code(), image.size());
    }

    /** Reports all problems of the label maps; {@code images} maps images to their file names. */
    static void check(
            Optional<LabelMaps> maps,
            String file,
            Map<ImageFile, String> images,
            CheckOptions options,
            Findings findings) {
        int classes = maps.map(LabelMaps::classes).orElse(0);
        Optional<String> fault = LabelCheck.fault(classes, options, "data.train.label_map_classes");
        if (fault.isPresent()) {
            String place = maps.map(each -> each.folder.toString()).orElse(file);
            findings.error(place, "%s", fault.get());
        } else {
            maps.orElseThrow().check(images, options, findings);
        }
    }

    private void check(Map<ImageFile, String> images, CheckOptions options, Findings findings) {
        if (!Files.isDirectory(folder)) {
            findings.error(
                    folder.toString(),
                    "no such folder; correct data.train.label_maps in the config%s",
                    DataFolder.alternativeTo(folder));
            return;
        }
        LabelCheck.run(
                List.copyOf(images.entrySet()),
                image -> check(of(image.getKey(), image.getValue()), image.getKey().size()),
                options,
                findings);
    }

    private LabelCheck.Result check(LabelFile map, Size size) {
        if (Files.exists(map.labels())) {
            return map.check(code(), Optional.of(size));
        }
        String message = "has no label map; expected " + map.labels();
        return new LabelCheck.Result(
                List.of(Finding.error(map.image().toString(), "", message)), Optional.empty());
    }
}

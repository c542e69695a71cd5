package dev.saccade.datasets.convert;

import dev.saccade.datasets.Finding;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** The formats of labels that are converted. */
public enum ForeignFormat {
    YOLO("YOLO"),
    VOC("Pascal VOC"),
    LABELME("LabelMe"),
    CVAT("CVAT for images"),
    CITYSCAPES("label maps as Cityscapes has them"),
    MASKS("label maps beside photographs"),
    COCO("COCO's format");

    private final String title;

    ForeignFormat(String title) {
        this.title = title;
    }

    private LabelReader reader() {
        return switch (this) {
            case YOLO -> new YoloReader();
            case VOC -> new VocReader();
            case LABELME -> new LabelMeReader();
            case CVAT -> new CvatReader();
            case CITYSCAPES -> new CityscapesReader();
            case MASKS -> new MaskReader();
            case COCO -> new CocoFileReader();
        };
    }

    /** Returns the name that a command takes. */
    public String key() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns whether pixels are labeled, not objects. */
    public boolean labelsPixels() {
        return this == CITYSCAPES || this == MASKS;
    }

    /** Returns what it is called. */
    public String title() {
        return title;
    }

    /**
     * Returns the formats that a folder looks like; none if it has none of these labels.
     *
     * @throws dev.saccade.core.SaccadeException if it is no folder, or cannot be listed
     */
    public static List<ForeignFormat> in(Path folder) {
        SourceFolder source = SourceFolder.list(folder, finding -> {});
        Samples samples = Samples.of(source);
        return Stream.of(values())
                .filter(format -> format.reader().knows(source, samples))
                .toList();
    }

    /**
     * Returns the labels of a folder; what is wrong with them is told in them, not thrown.
     *
     * @param onPhoto called after each photograph, from the calling thread
     * @throws dev.saccade.core.SaccadeException if it is no folder, or cannot be listed
     */
    public ForeignLabels read(Path folder, Runnable onPhoto) {
        List<Finding> findings = new ArrayList<>();
        SourceFolder source = SourceFolder.list(folder, findings::add);
        return reader().read(new Reading(source, findings, onPhoto));
    }
}

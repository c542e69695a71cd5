package dev.saccade.datasets.convert;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Finding;

import java.nio.file.Files;
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
    MASKS("label maps beside photographs");

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
        };
    }

    /** Returns the name that a command takes. */
    public String key() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns what it is called. */
    public String title() {
        return title;
    }

    /**
     * Returns the formats that a folder looks like; none if it has none of these labels.
     *
     * @throws SaccadeException if it is no folder, or cannot be listed
     */
    public static List<ForeignFormat> in(Path folder) {
        SourceFolder source = SourceFolder.list(requireFolder(folder), finding -> {});
        Samples samples = Samples.of(source);
        return Stream.of(values())
                .filter(format -> format.reader().knows(source, samples))
                .toList();
    }

    /**
     * Returns the labels of a folder; what is wrong with them is told in them, not thrown.
     *
     * @param onPhoto called after each photograph, from the calling thread
     * @throws SaccadeException if it is no folder, or cannot be listed
     */
    public ForeignLabels read(Path folder, Runnable onPhoto) {
        List<Finding> findings = new ArrayList<>();
        SourceFolder source = SourceFolder.list(requireFolder(folder), findings::add);
        return reader().read(new Reading(source, findings, onPhoto));
    }

    private static Path requireFolder(Path folder) {
        if (!Files.isDirectory(folder)) {
            throw SaccadeException.user(
                    "%s: %s; expected a folder of photographs and labels",
                    folder, Files.exists(folder) ? "is a file" : "there is no such folder");
        }
        return folder;
    }
}

package dev.saccade.datasets.convert.formats;

import dev.saccade.datasets.check.LabelFormat;
import dev.saccade.datasets.convert.ConversionContext;
import dev.saccade.datasets.convert.SourceLabels;
import dev.saccade.datasets.convert.source.SourceFolder;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/** Label formats that can be converted. */
public enum SourceFormat {
    YOLO("YOLO", "YOLO", new YoloReader()),
    VOC("Pascal VOC", "Pascal VOC", new VocReader()),
    LABELME("LabelMe", "LabelMe", new LabelMeReader()),
    LABEL_STUDIO("Label Studio", "Label Studio", new LabelStudioReader()),
    CVAT("CVAT for images", "CVAT", new CvatReader()),
    CITYSCAPES("label maps in the layout of Cityscapes", "", new CityscapesReader()),
    MASKS("label maps beside images", "", new MaskReader()),
    COCO("COCO's format", LabelFormat.COCO, new CocoFileReader());

    private static final List<String> SUFFIXES = List.of(".yaml", ".yml", ".xml", ".json", ".txt");

    private static final int MAX_SAMPLES = 40;

    private final String title;
    private final String guess;
    private final LabelReader reader;

    SourceFormat(String title, String guess, LabelReader reader) {
        this.title = title;
        this.guess = guess;
        this.reader = reader;
    }

    public String key() {
        return name().toLowerCase(Locale.ROOT);
    }

    public boolean labelsPixels() {
        return this == CITYSCAPES || this == MASKS;
    }

    public String title() {
        return title;
    }

    /** Returns the formats detected in a folder. */
    public static List<SourceFormat> in(Path folder) {
        SourceFolder source = SourceFolder.list(folder, finding -> {});
        Set<String> guesses = new HashSet<>();
        for (String suffix : SUFFIXES) {
            List<String> files = source.ending(suffix);
            int step = Math.max(1, files.size() / MAX_SAMPLES);
            for (int i = 0; i < files.size(); i += step) {
                LabelFormat.guess(source.path(files.get(i))).ifPresent(guesses::add);
            }
        }
        return Stream.of(values())
                .filter(f -> guesses.contains(f.guess) || f.reader.detects(source))
                .toList();
    }

    /** Reads labels and faults; the calling thread calls {@code onImage} after each image. */
    public SourceLabels read(Path folder, Runnable onImage) {
        return reader.read(new ConversionContext(folder, onImage));
    }
}

package dev.saccade.datasets.coco;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.AnnotationTable;

import java.nio.file.Path;
import java.util.List;

/** What the photographs of an annotation file are called. */
public final class CocoNames {

    private CocoNames() {}

    /**
     * Returns the {@code file_name} of the first photographs of a file; what else is wrong with it
     * is passed over.
     *
     * @throws SaccadeException if it is no JSON in COCO's format
     */
    public static List<String> first(Path annotations, int most) {
        AnnotationTable table = CocoReader.read(annotations, finding -> {});
        return table.fileNames().stream().limit(most).toList();
    }
}

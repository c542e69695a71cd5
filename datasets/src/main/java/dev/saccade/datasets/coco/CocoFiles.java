package dev.saccade.datasets.coco;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.AnnotationTable;
import dev.saccade.datasets.check.LabelFormat;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Annotation files in a folder that nobody has described, and the folders of their photographs. */
public final class CocoFiles {

    /** How many photographs of a file are looked for in a folder. */
    private static final int LOOKED_FOR = 5;

    private CocoFiles() {}

    /** Returns those of some files that label objects; COCO has captions and key points besides. */
    public static List<Path> ofObjects(List<Path> files) {
        List<Path> all =
                files.stream()
                        .filter(
                                file ->
                                        LabelFormat.guess(file)
                                                .equals(Optional.of(LabelFormat.COCO)))
                        .toList();
        List<Path> instances =
                all.stream()
                        .filter(file -> file.getFileName().toString().startsWith("instances_"))
                        .toList();
        return instances.isEmpty() ? all : instances;
    }

    /**
     * Returns the folder that has most of the first photographs of a file; of several, the first.
     *
     * @param folders where to look after the folder of the file
     * @throws SaccadeException of kind user, if the file is no JSON in COCO's format, or none of
     *     the photographs is in a folder
     */
    public static Path images(Path annotations, List<Path> folders) {
        AnnotationTable table = CocoReader.read(annotations, finding -> {});
        List<String> names = table.fileNames().stream().limit(LOOKED_FOR).toList();
        Path best = annotations.getParent();
        long most = count(best, names);
        for (Path folder : folders) {
            long found = most == names.size() ? 0 : count(folder, names);
            if (found > most) {
                most = found;
                best = folder;
            }
        }
        if (most == 0 && !names.isEmpty()) {
            throw SaccadeException.user(
                    "%s: none of its photographs, such as %s, is in a folder beside or below it",
                    annotations, names.get(0));
        }
        return best;
    }

    private static long count(Path folder, List<String> names) {
        return names.stream().filter(name -> isThere(folder, name)).count();
    }

    private static boolean isThere(Path folder, String name) {
        try {
            return Files.isRegularFile(folder.resolve(name));
        } catch (InvalidPathException e) {
            return false;
        }
    }
}

package dev.saccade.datasets.check;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** What is said of a folder of data that does not hold what was looked for. */
public final class DataFolder {

    private static final int DEPTH = 3;

    /** So many files of a folder, and so many folders of a folder, tell what is in it. */
    private static final int MOST_LOOKED_AT = 50;

    private static final int MOST_SHOWN = 2;

    /** The formats that a command converts. */
    private static final List<String> CONVERTED = List.of("YOLO", "Pascal VOC", "LabelMe", "CVAT");

    private DataFolder() {}

    /**
     * Requires the folder that the paths of a data set start from, if any does.
     *
     * @param paths of the data set; an absolute one does not need the folder
     * @throws SaccadeException of kind user, if there is no such folder
     */
    public static void requireRoot(Path root, String... paths) {
        boolean needed = Arrays.stream(paths).anyMatch(path -> !Path.of(path).isAbsolute());
        if (needed && !Files.isDirectory(root)) {
            throw SaccadeException.user(
                            "%s: %s; set data.root to the folder that contains %s%s",
                            root,
                            Files.exists(root) ? "is a file" : "there is no such folder",
                            String.join(" and ", paths),
                            root.isAbsolute()
                                    ? ""
                                    : " (paths start from " + Path.of("").toAbsolutePath() + ")")
                    .withSettings("data");
        }
    }

    /**
     * Refuses what is no folder.
     *
     * @throws SaccadeException of kind user
     */
    public static void requireFolder(Path path) {
        if (!Files.isDirectory(path)) {
            throw SaccadeException.user(
                    "%s: %s; expected a folder of labeled photographs",
                    path, Files.exists(path) ? "is a file" : "there is no such folder");
        }
    }

    /** Returns what is said of an annotation file that is not there, or is none. */
    public static SaccadeException noAnnotations(Path file) {
        boolean isFolder = Files.isDirectory(file);
        return SaccadeException.user(
                        "%s: %s, expected a JSON file in COCO's format (data.train.annotations or"
                                + " data.val.annotations of a config)%s%s",
                        file,
                        isFolder ? "is a folder" : "no such annotation file",
                        file.startsWith(".")
                                ? " in the current folder, since data.root is not set"
                                : "",
                        inPlaceOf(isFolder ? file.resolve("annotations.json") : file))
                .withSettings("data");
    }

    /**
     * Returns what is there in place of a file that is missing; nothing if the folder that it
     * should be in is missing too.
     */
    public static String inPlaceOf(Path missing) {
        Path path = missing.toAbsolutePath().normalize();
        Path folder = path.getParent();
        if (folder != null && !Files.isDirectory(folder)) {
            folder = folder.getParent();
        }
        if (folder == null || !Files.isDirectory(folder)) {
            return "";
        }
        Path above = folder.getParent();
        Path beside = above == null ? path : above.resolve(folder.relativize(path));
        return Files.exists(beside)
                ? Text.format("; but %s is there: is %s the folder of the data set?", beside, above)
                : "; " + content(folder);
    }

    /** Returns what a folder has, in words. */
    public static String content(Path folder) {
        Map<String, List<String>> formats = new LinkedHashMap<>();
        for (Path file : files(folder, DEPTH)) {
            LabelFormat.guess(file)
                    .ifPresent(
                            format ->
                                    formats.computeIfAbsent(format, name -> new ArrayList<>())
                                            .add(folder.relativize(file).toString()));
        }
        List<String> coco = formats.remove(LabelFormat.COCO);
        List<String> photographs = formats.remove(LabelFormat.PHOTOGRAPH);
        if (coco != null) {
            return Text.format("%s has %s", folder, shown(coco));
        } else if (!formats.isEmpty()) {
            return Text.format(
                    "%s looks like %s, which has to be converted first%s",
                    folder,
                    formats.entrySet().stream()
                            .map(f -> f.getKey() + " (" + shown(f.getValue()) + ")")
                            .collect(Collectors.joining(", ")),
                    CONVERTED.stream().anyMatch(formats::containsKey)
                            ? ": ./saccade convert-data " + folder
                            : "");
        } else if (photographs != null) {
            return Text.format("%s has images alone (%s)", folder, shown(photographs));
        }
        return folder + " has neither labels nor photographs";
    }

    private static String shown(List<String> files) {
        String more = files.size() > MOST_SHOWN ? ", ..." : "";
        return files.stream().limit(MOST_SHOWN).collect(Collectors.joining(", ")) + more;
    }

    /** Returns some of the files of a folder, sorted, and after them those of its folders. */
    private static List<Path> files(Path folder, int depth) {
        List<Path> files = new ArrayList<>();
        List<Path> folders = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(folder, "[!.]*")) {
            for (Path path : all) {
                List<Path> kind = Files.isDirectory(path) ? folders : files;
                if (kind.size() < MOST_LOOKED_AT) {
                    kind.add(path);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            return List.of();
        }
        Collections.sort(files);
        Collections.sort(folders);
        if (depth > 1) {
            folders.forEach(inner -> files.addAll(files(inner, depth - 1)));
        }
        return files;
    }
}

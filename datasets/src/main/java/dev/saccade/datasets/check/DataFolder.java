package dev.saccade.datasets.check;

import com.google.common.collect.ListMultimap;
import com.google.common.collect.MultimapBuilder;

import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

/** Describes folders that do not contain the expected data. */
public final class DataFolder {

    private static final int DEPTH = 3;

    /** Maximum number of files and folders inspected in each folder. */
    private static final int MAX_SAMPLES = 50;

    private static final int MAX_SHOWN = 2;

    private static final List<String> CONVERTED =
            List.of("YOLO", "Pascal VOC", "LabelMe", "Label Studio", "CVAT");

    private DataFolder() {}

    /** Throws if a path is invalid, or if the root folder is missing and a path is relative. */
    public static void requireRoot(Path root, String... paths) {
        List<Path> parsed = Arrays.stream(paths).map(DataFolder::parse).toList();
        boolean needed = parsed.stream().anyMatch(path -> !path.isAbsolute());
        if (needed && !Files.isDirectory(root)) {
            throw SaccadeException.user(
                            "%s: %s; set data.root to the folder that contains %s%s",
                            root,
                            Files.exists(root) ? "is a file" : "no such folder",
                            String.join(" and ", paths),
                            root.isAbsolute()
                                    ? ""
                                    : ", or start in another folder: the path is relative"
                                            + " to "
                                            + Path.of("").toAbsolutePath())
                    .withSettings("data");
        }
    }

    private static Path parse(String path) {
        try {
            return Path.of(path);
        } catch (InvalidPathException e) {
            throw SaccadeException.user(
                            "%s: is not a path: %s; correct the paths of data.train and data.val",
                            Printable.line(path), e.getReason())
                    .withSettings("data");
        }
    }

    public static void requireFolder(Path path) {
        if (!Files.isDirectory(path)) {
            throw SaccadeException.user(
                    "%s: %s; expected a folder of labeled images",
                    path, Files.exists(path) ? "is a file" : "no such folder");
        }
    }

    /** Returns the error for an annotation file that is missing or a folder. */
    public static SaccadeException missingAnnotations(Path file) {
        boolean isFolder = Files.isDirectory(file);
        return SaccadeException.user(
                        "%s: %s; expected a JSON file in COCO's format (data.train.annotations or"
                                + " data.val.annotations in the config)%s%s",
                        file,
                        isFolder ? "is a folder" : "no such annotation file",
                        file.startsWith(".")
                                ? " in the current folder "
                                        + Path.of("").toAbsolutePath()
                                        + ", since data.root is not set"
                                : "",
                        alternativeTo(isFolder ? file.resolve("annotations.json") : file))
                .withSettings("data");
    }

    /** Describes what exists instead of a file; empty if its two parent folders are missing. */
    public static String alternativeTo(Path missing) {
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
                ? Text.format(
                        "; but %s exists: did you mean the data set folder %s?", beside, above)
                : "; " + content(folder);
    }

    public static String content(Path folder) {
        ListMultimap<String, String> formats =
                MultimapBuilder.linkedHashKeys().arrayListValues().build();
        for (Path file : files(folder, DEPTH)) {
            String name = folder.relativize(file).toString();
            LabelFormat.guess(file).ifPresent(format -> formats.put(format, name));
        }
        List<String> coco = formats.removeAll(LabelFormat.COCO);
        List<String> images = formats.removeAll(LabelFormat.IMAGE);
        if (!coco.isEmpty()) {
            return Text.format("%s has %s", folder, shown(coco));
        } else if (!formats.isEmpty()) {
            return Text.format(
                    "%s contains %s, which must be converted first%s",
                    folder,
                    formats.keySet().stream()
                            .map(format -> format + " (" + shown(formats.get(format)) + ")")
                            .collect(Collectors.joining(", ")),
                    CONVERTED.stream().anyMatch(formats::containsKey) ? " with convert-data" : "");
        } else if (!images.isEmpty()) {
            return Text.format("%s has images only (%s)", folder, shown(images));
        }
        return folder + " has neither labels nor images";
    }

    private static String shown(List<String> files) {
        String more = files.size() > MAX_SHOWN ? ", ..." : "";
        return files.stream().limit(MAX_SHOWN).collect(Collectors.joining(", ")) + more;
    }

    /** Returns some files of a folder, sorted, followed by files of its subfolders. */
    private static List<Path> files(Path folder, int depth) {
        List<Path> files = new ArrayList<>();
        List<Path> folders = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(folder, "[!.]*")) {
            for (Path path : all) {
                List<Path> kind = Files.isDirectory(path) ? folders : files;
                if (kind.size() < MAX_SAMPLES) {
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

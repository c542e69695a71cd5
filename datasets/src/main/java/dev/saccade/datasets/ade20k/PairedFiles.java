package dev.saccade.datasets.ade20k;

import com.google.common.collect.Iterables;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.check.DataFolder;
import dev.saccade.datasets.check.Reporter;
import dev.saccade.datasets.labels.LabelFile;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Images and label maps, matched by relative path without suffix; skips hidden files. */
record PairedFiles(Path root, FileSet images, FileSet labels) {

    private static final int MAX_SHOWN = 5;

    /** A folder of files with a suffix, and the config keys of folder and suffix. */
    record FileSet(String key, Path folder, String suffixKey, String suffix) {

        private Path file(String stem) {
            return folder.resolve(stem + suffix);
        }
    }

    /** Returns the pairs, sorted by path; reports files without a counterpart. */
    List<LabelFile> find(Reporter findings) {
        SortedMap<String, Path> imageFiles = files(images, findings);
        SortedMap<String, Path> labelFiles = files(labels, findings);
        List<LabelFile> pairs = new ArrayList<>();
        if (imageFiles.isEmpty() || labelFiles.isEmpty()) {
            return pairs;
        }
        imageFiles.forEach(
                (stem, image) -> {
                    Path map = labelFiles.remove(stem);
                    if (map != null) {
                        pairs.add(new LabelFile(image, map));
                    } else {
                        report(image, "label map", labels.file(stem), findings);
                    }
                });
        labelFiles.forEach((stem, map) -> report(map, "image", images.file(stem), findings));
        return pairs;
    }

    private static void report(Path file, String missing, Path expected, Reporter findings) {
        findings.error(file.toString(), "has no matching %s; expected %s", missing, expected);
    }

    private SortedMap<String, Path> files(FileSet half, Reporter findings) {
        SortedMap<String, Path> files = new TreeMap<>();
        SortedSet<String> others = new TreeSet<>();
        String place = half.folder.toString();
        if (!Files.isDirectory(half.folder)) {
            findings.error(
                    place,
                    "no such folder; correct data.train.%s or data.val.%s in the config; %s",
                    half.key,
                    half.key,
                    DataFolder.content(root));
            return files;
        }
        for (Path file : regularFiles(half.folder)) {
            String path = half.folder.relativize(file).toString();
            if (path.endsWith(half.suffix)) {
                int end = path.length() - half.suffix.length();
                files.put(path.substring(0, end).replace('\\', '/'), file);
            } else {
                others.add(ending(file.getFileName().toString()));
            }
        }
        if (files.isEmpty()) {
            findings.error(
                    place, "has no file that ends in \"%s\"%s", half.suffix, instead(half, others));
        }
        return files;
    }

    private static List<Path> regularFiles(Path folder) {
        try (Stream<Path> all = Files.walk(folder, FileVisitOption.FOLLOW_LINKS)) {
            return all.filter(Files::isRegularFile)
                    .filter(file -> !file.getFileName().toString().startsWith("."))
                    .toList();
        } catch (IOException | UncheckedIOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", folder, e.getMessage());
        }
    }

    private static String ending(String name) {
        return name.substring(Math.max(0, name.lastIndexOf('.')));
    }

    private static String instead(FileSet half, SortedSet<String> others) {
        return others.isEmpty()
                ? "; it is empty"
                : Text.format(
                        "; its files end in %s; correct %s",
                        String.join(", ", Iterables.limit(others, MAX_SHOWN)), half.suffixKey);
    }
}

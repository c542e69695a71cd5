package dev.saccade.datasets;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The photographs of a folder with the label maps of another, matched by their paths within the
 * folders up to a suffix and sorted by them. Subfolders are looked into, hidden files are not.
 */
final class PairedFiles {

    /** A photograph and its label map. */
    record Pair(Path photo, Path labels) {}

    private PairedFiles() {}

    /**
     * Returns the pairs and reports whatever has no counterpart.
     *
     * @throws SaccadeException if a folder cannot be read
     */
    static List<Pair> find(
            Path images,
            String imageSuffix,
            Path labels,
            String labelSuffix,
            Consumer<Finding> findings) {
        SortedMap<String, Path> photos = files(images, imageSuffix, findings);
        SortedMap<String, Path> maps = files(labels, labelSuffix, findings);
        ImmutableList.Builder<Pair> pairs = ImmutableList.builder();
        photos.forEach(
                (stem, photo) -> {
                    Path map = maps.remove(stem);
                    if (map != null) {
                        pairs.add(new Pair(photo, map));
                    } else {
                        Path expected = labels.resolve(stem + labelSuffix);
                        findings.accept(missing(photo, "label map", expected));
                    }
                });
        maps.forEach(
                (stem, map) ->
                        findings.accept(
                                missing(map, "photograph", images.resolve(stem + imageSuffix))));
        return pairs.build();
    }

    private static Finding missing(Path file, String counterpart, Path expected) {
        return Finding.error(
                file.toString(), "", "has no %s, expected %s".formatted(counterpart, expected));
    }

    private static SortedMap<String, Path> files(
            Path folder, String suffix, Consumer<Finding> findings) {
        SortedMap<String, Path> files = new TreeMap<>();
        if (!Files.isDirectory(folder)) {
            findings.accept(Finding.error(folder.toString(), "", "no such folder"));
            return files;
        }
        try (Stream<Path> all = Files.walk(folder, FileVisitOption.FOLLOW_LINKS)) {
            all.filter(Files::isRegularFile)
                    .filter(file -> !file.getFileName().toString().startsWith("."))
                    .forEach(
                            file -> {
                                String path = folder.relativize(file).toString();
                                if (path.endsWith(suffix)) {
                                    int end = path.length() - suffix.length();
                                    files.put(path.substring(0, end).replace('\\', '/'), file);
                                }
                            });
        } catch (IOException | UncheckedIOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", folder, e.getMessage());
        }
        if (files.isEmpty()) {
            findings.accept(
                    Finding.error(
                            folder.toString(), "", "has no file that ends in \"" + suffix + "\""));
        }
        return files;
    }
}

package dev.saccade.datasets.coco;

import com.google.common.base.Splitter;
import com.google.common.collect.Sets;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.AnnotationTable.ImageRow;
import dev.saccade.datasets.check.LabelFormat;
import dev.saccade.datasets.labels.PathNames;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Finds annotation files in a folder, and the folders of their images. */
public final class CocoFiles {

    private static final int MAX_LOOKUPS = 20;

    private static final Pattern WORDS = Pattern.compile("[^\\p{L}\\p{N}]+");
    private static final List<String> PARTS = List.of("train", "val", "test");

    private CocoFiles() {}

    /** Returns the files in COCO's format; only {@code instances_*} if there are any. */
    public static List<Path> ofObjects(List<Path> files) {
        List<Path> all =
                files.stream()
                        .filter(file -> LabelFormat.guess(file).orElse("").equals(LabelFormat.COCO))
                        .toList();
        List<Path> instances =
                all.stream()
                        .filter(file -> file.getFileName().toString().startsWith("instances_"))
                        .toList();
        return instances.isEmpty() ? all : instances;
    }

    /**
     * Returns the folder that contains the images of an annotation file. If file names repeat
     * across folders, prefers the folder next to the annotation file, or with a similar name.
     *
     * @param folders folders of the data set, candidates besides the folder of the file
     * @throws SaccadeException of kind user, if the file is not in COCO's format, no folder has its
     *     images, or several folders match equally
     */
    public static Path images(Path annotations, List<Path> folders) {
        List<ImageRow> images = CocoReader.read(annotations, finding -> {}).images();
        int step = Math.max(1, images.size() / MAX_LOOKUPS);
        List<String> names =
                IntStream.range(0, Math.min(images.size(), MAX_LOOKUPS))
                        .mapToObj(i -> images.get(i * step).fileName())
                        .toList();
        if (names.isEmpty()) {
            return annotations.getParent();
        }
        Set<Path> all = new LinkedHashSet<>(List.of(annotations.getParent()));
        all.addAll(folders);
        Path root = Collections.min(all, Comparator.comparingInt(Path::getNameCount));
        List<Candidate> candidates =
                all.stream().map(each -> Candidate.of(root, annotations, each, names)).toList();
        long most = candidates.stream().mapToLong(Candidate::found).max().orElseThrow();
        if (most == 0) {
            throw SaccadeException.user(
                    "%s: none of its images, such as %s, is in a folder beside or below it; add the"
                            + " images, or correct file_name",
                    annotations, names.get(0));
        }
        Candidate best =
                candidates.stream()
                        .filter(candidate -> 2 * candidate.found >= most)
                        .min(Candidate.BEST_FIRST)
                        .orElseThrow();
        List<Path> equal =
                candidates.stream()
                        .filter(each -> Candidate.BEST_FIRST.compare(each, best) == 0)
                        .map(Candidate::folder)
                        .toList();
        if (equal.stream().map(CocoFiles::real).distinct().count() > 1) {
            throw SaccadeException.user(
                    "%s: the images of this annotation file, such as %s, were found in several"
                            + " folders: %s; move it next to its images, or give it the name of"
                            + " their folder",
                    annotations,
                    names.get(0),
                    equal.stream()
                            .map(folder -> root.relativize(folder).toString())
                            .collect(Collectors.joining(", ")));
        }
        return best.folder;
    }

    /** A folder that may contain the images of an annotation file, with criteria to rank it. */
    private record Candidate(
            Path folder, long found, int shared, long similarNames, int extra, int distance) {

        private static final Comparator<Candidate> BEST_FIRST =
                Comparator.comparingInt(Candidate::shared)
                        .thenComparingLong(Candidate::similarNames)
                        .thenComparingLong(Candidate::found)
                        .reversed()
                        .thenComparingInt(Candidate::extra)
                        .thenComparingInt(Candidate::distance);

        private static Candidate of(Path root, Path annotations, Path folder, List<String> names) {
            Path file = root.relativize(annotations);
            Path images = root.relativize(folder);
            Path parent = root.relativize(annotations.getParent());
            int shared = common(parent, images);
            return new Candidate(
                    folder,
                    names.stream().filter(name -> isThere(folder, name)).count(),
                    shared,
                    Sets.intersection(words(file), words(images)).size()
                            + PathNames.countContainedFolders(file.toString(), images.toString()),
                    PathNames.countUnmatchedWords(file.toString(), images.toString()),
                    depth(parent) + depth(images) - 2 * shared);
        }

        private static int depth(Path path) {
            return path.toString().isEmpty() ? 0 : path.getNameCount();
        }

        private static int common(Path one, Path other) {
            int most = Math.min(depth(one), depth(other));
            return (int)
                    IntStream.range(0, most)
                            .takeWhile(i -> one.getName(i).equals(other.getName(i)))
                            .count();
        }

        /** Returns the words of a path, and the split names in them, such as in {@code val2017}. */
        private static Set<String> words(Path path) {
            Set<String> words = new HashSet<>();
            for (String word : Splitter.on(WORDS).split(path.toString().toLowerCase(Locale.ROOT))) {
                words.add(word);
                PARTS.stream()
                        .filter(word::contains)
                        .map(part -> "part " + part)
                        .forEach(words::add);
            }
            words.remove("");
            return words;
        }
    }

    /** Resolves links, as one folder may occur under two names. */
    private static Path real(Path folder) {
        try {
            return folder.toRealPath();
        } catch (IOException e) {
            return folder;
        }
    }

    private static boolean isThere(Path folder, String name) {
        try {
            return Files.isRegularFile(folder.resolve(name));
        } catch (InvalidPathException e) {
            return false;
        }
    }
}

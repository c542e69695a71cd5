package dev.saccade.configgen;

import dev.saccade.config.Configs;
import dev.saccade.configgen.LabeledFolder.Role;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.ade20k.Ade20kDataset;
import dev.saccade.datasets.image.ImageNames;
import dev.saccade.datasets.image.IndexPng;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Finds parallel folders such as {@code images/training} and {@code annotations/training}. */
final class LabelMapLayout {

    private static final List<String> IMAGES =
            List.of("images", "image", "imgs", "img", "photos", "jpegimages");

    private static final List<String> LABELS =
            List.of("annotations", "labels", "masks", "mask", "annotation", "segmentationclass");

    private static final List<String> NAMES =
            List.of("classes.txt", "class_names.txt", "labels.txt");

    /** File that identifies ADE20K, whose class names are known. */
    private static final String OF_ADE20K = "objectInfo150.txt";

    private static final int SAMPLED_MAPS = 24;
    private static final int IGNORED = 255;

    /** A folder of images and its folder of label maps, with the file name suffixes of both. */
    private record Pair(Path images, Path labels, String imageSuffix, String labelSuffix) {

        /** Returns a pair of the closest common parent folders, with the suffixes of this pair. */
        Pair with(Pair other) {
            return new Pair(
                    above(images, other.images),
                    above(labels, other.labels),
                    imageSuffix,
                    labelSuffix);
        }

        private static Path above(Path one, Path other) {
            Path above = one;
            while (!other.startsWith(above)) {
                above = above.getParent();
            }
            return above;
        }
    }

    private LabelMapLayout() {}

    static Optional<LabeledFolder> find(Path root) {
        List<Pair> pairs =
                FolderTree.folders(root).stream()
                        .flatMap(folder -> pair(root, folder).stream())
                        .toList();
        if (pairs.isEmpty()) {
            return Optional.empty();
        }
        Pair train =
                of(root, pairs, Role.TRAIN)
                        .or(() -> of(root, pairs, Role.NONE))
                        .orElseThrow(
                                () ->
                                        LabeledFolder.unclear(
                                                root,
                                                pairs.stream()
                                                        .map(pair -> root.relativize(pair.images))
                                                        .toList()));
        Optional<Pair> val = of(root, pairs, Role.VAL).or(() -> of(root, pairs, Role.TEST));
        Map<String, Object> classes = classes(root, pairs);
        return Optional.of(
                new LabeledFolder(
                        root,
                        config(root, train, classes),
                        val.map(pair -> config(root, pair, classes))));
    }

    /** Merges the folders of a split, for example one per city, into one pair. */
    private static Optional<Pair> of(Path root, List<Pair> pairs, Role role) {
        List<Pair> own =
                pairs.stream()
                        .filter(pair -> Role.of(root.relativize(pair.images)) == role)
                        .toList();
        Optional<Pair> all = own.stream().reduce(Pair::with);
        if (all.isPresent() && all.get().images.equals(all.get().labels)) {
            throw SaccadeException.user(
                    "%s: the label maps of one split are in several folders, %s;"
                            + " expected one folder of images and one of label maps, such as"
                            + " images/train and annotations/train, optionally with subfolders",
                    root,
                    Printable.line(
                            own.stream()
                                    .map(pair -> root.relativize(pair.labels).toString())
                                    .collect(Collectors.joining(", "))));
        }
        return all;
    }

    private static Optional<Pair> pair(Path root, Path folder) {
        Path inside = root.relativize(folder);
        for (int i = 0; i < inside.getNameCount(); i++) {
            if (IMAGES.contains(lower(inside.getName(i)))) {
                Path above = i == 0 ? root : root.resolve(inside.subpath(0, i));
                for (Path beside : FolderTree.folders(above, 1)) {
                    Path labels = beside.resolve(inside.getName(i).relativize(tail(inside, i)));
                    if (LABELS.contains(lower(beside.getFileName())) && Files.isDirectory(labels)) {
                        Optional<Pair> pair = pairOf(folder, labels);
                        if (pair.isPresent()) {
                            return pair;
                        }
                    }
                }
            }
        }
        return Optional.empty();
    }

    private static Path tail(Path path, int from) {
        return path.subpath(from, path.getNameCount());
    }

    private static String lower(Path name) {
        return name.toString().toLowerCase(Locale.ROOT);
    }

    /** Returns a pair if at least one image has a label map. */
    private static Optional<Pair> pairOf(Path images, Path labels) {
        List<String> maps =
                FolderTree.files(labels, ".png").stream()
                        .map(map -> map.getFileName().toString())
                        .toList();
        for (Path image : FolderTree.files(images, ImageNames.ENDINGS.toArray(String[]::new))) {
            String name = image.getFileName().toString();
            int dot = name.lastIndexOf('.');
            String stem = name.substring(0, dot);
            for (String map : maps) {
                if (map.startsWith(stem) && map.substring(dot).matches("[._-].*")) {
                    return Optional.of(
                            new Pair(images, labels, name.substring(dot), map.substring(dot)));
                }
            }
        }
        return Optional.empty();
    }

    private static Ade20kDataset.Config config(Path root, Pair pair, Map<String, Object> classes) {
        Map<String, Object> settings = new HashMap<>(classes);
        settings.put("images", LabeledFolder.relative(root, pair.images));
        settings.put("annotations", LabeledFolder.relative(root, pair.labels));
        settings.put("image_suffix", pair.imageSuffix);
        settings.put("label_suffix", pair.labelSuffix);
        return Configs.of(Ade20kDataset.Config.class, settings);
    }

    /**
     * Returns config settings for the classes, from a file of names or the indices in label maps.
     */
    private static Map<String, Object> classes(Path root, List<Pair> pairs) {
        SortedSet<Integer> numbers = numbers(pairs);
        numbers.remove(IGNORED);
        if (numbers.isEmpty() || numbers.last() == 0) {
            throw SaccadeException.user(
                    "%s: the label maps contain only 0 and %d (unlabeled); expected"
                            + " class indices from 1",
                    pairs.get(0).labels, IGNORED);
        }
        Optional<String> file =
                NAMES.stream().filter(name -> Files.isRegularFile(root.resolve(name))).findFirst();
        if (file.isPresent()) {
            List<String> names = names(root.resolve(file.get()));
            boolean fromZero = numbers.first() == 0 && numbers.last() == names.size() - 1;
            return Map.of("classes_file", file.get(), "reduce_zero_label", !fromZero);
        }
        if (Files.isRegularFile(root.resolve(OF_ADE20K))) {
            return Map.of();
        }
        return Map.of(
                "classes",
                IntStream.rangeClosed(1, numbers.last()).mapToObj(n -> "class " + n).toList());
    }

    private static List<String> names(Path file) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.map(String::strip).filter(line -> !line.isEmpty()).toList();
        } catch (IOException | java.io.UncheckedIOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
    }

    /** Returns the pixel values in a sample of the label maps. */
    private static SortedSet<Integer> numbers(List<Pair> pairs) {
        SortedSet<Integer> numbers = new TreeSet<>();
        for (Pair pair : pairs) {
            List<Path> maps = new ArrayList<>(FolderTree.files(pair.labels, pair.labelSuffix));
            int step = Math.max(1, maps.size() / SAMPLED_MAPS);
            for (int i = 0; i < maps.size(); i += step) {
                for (short value : IndexPng.read(maps.get(i)).values()) {
                    numbers.add(Short.toUnsignedInt(value));
                }
            }
        }
        return numbers;
    }
}

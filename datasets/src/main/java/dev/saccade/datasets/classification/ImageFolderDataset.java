package dev.saccade.datasets.classification;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.Lists;
import com.google.common.collect.Streams;

import dev.saccade.core.Checks;
import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.ImageLabelStatistics;
import dev.saccade.datasets.LazyImages;
import dev.saccade.datasets.check.DataFolder;
import dev.saccade.datasets.check.DatasetCheck;
import dev.saccade.datasets.check.Findings;
import dev.saccade.datasets.image.ImageNames;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Images in a folder per class, like torchvision's {@code ImageFolder}: {@code train/cat/1.jpg}.
 *
 * <p>Images are sorted by class and path, and have ids from 1. Images may be in subfolders of a
 * class. Hidden files and folders, and the folders {@code __MACOSX} and {@code @eaDir} of archives
 * and network disks, are skipped. Sizes are read on first access.
 */
public final class ImageFolderDataset implements Dataset {

    private record Entry(Path file, int label) {}

    private final ImmutableList<String> classes;
    private final ImmutableList<Entry> entries;
    private final LazyImages images;

    private ImageFolderDataset(List<String> classes, List<Entry> entries) {
        this.classes = ImmutableList.copyOf(classes);
        this.entries = ImmutableList.copyOf(entries);
        this.images = new LazyImages(Lists.transform(entries, Entry::file));
    }

    /**
     * Settings of an image folder.
     *
     * @param folder contains a folder per class; by default the root of the data
     * @param classes names of the class folders in the order of the labels; if empty, all folders
     *     in alphabetical order
     */
    @Component("image_folder")
    public record Config(@Default(".") String folder, @Default("[]") List<String> classes)
            implements Dataset.Config {

        private static final int MAX_SHOWN = 3;

        /** Folders that macOS writes to archives, and Synology to its disks. */
        private static final Set<String> SYSTEM_FOLDERS = Set.of("__MACOSX", "@eaDir");

        public Config {
            classes = List.copyOf(classes);
            Checks.require(
                    classes.stream().distinct().count() == classes.size(),
                    "classes",
                    classes,
                    "distinct names");
        }

        @Override
        public ImageFolderDataset open(Path root) {
            Findings findings = new Findings();
            ImageFolderDataset dataset = read(root, findings);
            findings.problems().throwIfAny(root.resolve(folder).toString());
            return dataset;
        }

        @Override
        public DatasetReport check(Path root, CheckOptions options) {
            Findings findings = new Findings();
            ImageFolderDataset dataset = read(root, findings);
            if (findings.hasErrors()) {
                return findings.report(new ImageLabelStatistics(Map.of()));
            }
            DatasetReport report = DatasetCheck.run(dataset, options);
            return report.withWarnings(findings.kept());
        }

        @Override
        public List<String> knownClasses() {
            return classes;
        }

        private ImageFolderDataset read(Path root, Findings findings) {
            DataFolder.requireRoot(root, folder);
            Path parent = folder.equals(".") ? root : root.resolve(folder);
            if (!Files.isDirectory(parent)) {
                findings.error(
                        parent.toString(),
                        "no such folder; expected a folder per class, such as %s; %s",
                        Path.of(folder, "cat"),
                        DataFolder.content(root));
                return new ImageFolderDataset(List.of(), List.of());
            }
            List<String> folders = folders(parent);
            List<String> names = classes.isEmpty() ? folders : classes;
            if (names.isEmpty()) {
                findings.error(
                        parent.toString(),
                        "has no folders; expected a folder of images per class, such as %s",
                        Path.of(folder, "cat"));
            }
            names.stream()
                    .filter(name -> !folders.contains(name))
                    .forEach(
                            name ->
                                    findings.error(
                                            parent.resolve(name).toString(),
                                            "no such folder; the config lists the class \"%s\"",
                                            name));
            List<String> unlisted = folders.stream().filter(name -> !names.contains(name)).toList();
            if (!unlisted.isEmpty()) {
                findings.warning(
                        parent.toString(),
                        "skips %s not listed in classes: %s",
                        Count.of(unlisted.size(), "folder"),
                        Count.first(unlisted, MAX_SHOWN));
            }
            List<String> loose = looseImages(parent);
            if (!loose.isEmpty()) {
                findings.warning(
                        parent.toString(),
                        "skips %s outside of the class folders: %s",
                        Count.of(loose.size(), "image"),
                        Count.first(loose, MAX_SHOWN));
            }
            return findings.hasErrors()
                    ? new ImageFolderDataset(List.of(), List.of())
                    : new ImageFolderDataset(names, entries(parent, names, findings));
        }

        private static List<String> folders(Path parent) {
            return names(parent, Files::isDirectory);
        }

        private static List<String> looseImages(Path parent) {
            return names(parent, Files::isRegularFile).stream()
                    .filter(ImageNames::isImage)
                    .toList();
        }

        private static List<String> names(Path parent, Predicate<Path> type) {
            try (Stream<Path> all = Files.list(parent)) {
                return all.filter(type)
                        .map(path -> path.getFileName().toString())
                        .filter(Config::isVisible)
                        .sorted()
                        .toList();
            } catch (IOException | UncheckedIOException e) {
                throw SaccadeException.io(e, "%s: cannot be read: %s", parent, e.getMessage());
            }
        }

        private static List<Entry> entries(Path parent, List<String> names, Findings findings) {
            List<Entry> entries = new ArrayList<>();
            for (int label = 0; label < names.size(); label++) {
                Path folder = parent.resolve(names.get(label));
                Map<Boolean, List<Path>> files =
                        files(folder).stream()
                                .collect(
                                        Collectors.partitioningBy(
                                                file ->
                                                        ImageNames.isImage(
                                                                file.getFileName().toString())));
                for (Path file : files.get(true)) {
                    entries.add(new Entry(file, label));
                }
                List<String> others =
                        files.get(false).stream()
                                .map(file -> file.getFileName().toString())
                                .toList();
                if (!others.isEmpty()) {
                    findings.warning(
                            folder.toString(),
                            "skips %s without the suffix of a supported image: %s",
                            Count.of(others.size(), "file"),
                            Count.first(others, MAX_SHOWN));
                }
            }
            if (entries.isEmpty()) {
                findings.error(
                        parent.toString(),
                        "has no images in the folders %s",
                        Count.first(names, MAX_SHOWN));
            }
            return entries;
        }

        private static List<Path> files(Path folder) {
            try (Stream<Path> all = Files.walk(folder, FileVisitOption.FOLLOW_LINKS)) {
                return all.filter(Files::isRegularFile)
                        .filter(file -> isVisible(folder.relativize(file)))
                        .sorted(Comparator.comparing(Path::toString))
                        .toList();
            } catch (IOException | UncheckedIOException e) {
                throw SaccadeException.io(e, "%s: cannot be read: %s", folder, e.getMessage());
            }
        }

        private static boolean isVisible(Path relative) {
            return Streams.stream(relative).map(Path::toString).allMatch(Config::isVisible);
        }

        private static boolean isVisible(String name) {
            return !name.startsWith(".") && !SYSTEM_FOLDERS.contains(name);
        }
    }

    @Override
    public List<String> classes() {
        return classes;
    }

    @Override
    public List<ImageFile> images() {
        return images;
    }

    @Override
    public OptionalInt label(int index) {
        return OptionalInt.of(entries.get(index).label());
    }
}

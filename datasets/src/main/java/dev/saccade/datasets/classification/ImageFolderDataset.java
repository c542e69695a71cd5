package dev.saccade.datasets.classification;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.Lists;

import dev.saccade.core.Checks;
import dev.saccade.core.Count;
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

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * Images in a folder per class, like torchvision's {@code ImageFolder}: {@code train/cat/1.jpg}.
 *
 * <p>Images are sorted by class and path, and have ids from 1. Images may be in subfolders of a
 * class. Hidden files and folders, and the folders {@code __MACOSX} and {@code @eaDir} of archives
 * and network disks, are skipped; symbolic links are followed. Sizes are read on first access.
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

        ImageFolderDataset read(Path root, Findings findings) {
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
            List<String> folders = FolderFiles.classes(parent, findings);
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
                                            parent.toString() + File.separatorChar + name,
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
            return findings.hasErrors()
                    ? new ImageFolderDataset(List.of(), List.of())
                    : new ImageFolderDataset(names, entries(parent, names, findings));
        }

        private static List<Entry> entries(Path parent, List<String> names, Findings findings) {
            List<Entry> entries = new ArrayList<>();
            for (int label = 0; label < names.size(); label++) {
                Path folder = parent.resolve(names.get(label));
                for (Path file : FolderFiles.images(folder, findings)) {
                    entries.add(new Entry(file, label));
                }
            }
            if (entries.isEmpty() && !findings.hasErrors()) {
                findings.error(
                        parent.toString(),
                        "has no images in the folders %s",
                        Count.first(names, MAX_SHOWN));
            }
            return entries;
        }
    }

    /** Returns a copy with other class names, in the order of the folders. */
    ImageFolderDataset withClasses(List<String> names) {
        return new ImageFolderDataset(names, entries);
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

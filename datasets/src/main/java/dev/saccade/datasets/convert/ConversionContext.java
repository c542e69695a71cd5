package dev.saccade.datasets.convert;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Count;
import dev.saccade.core.Workers;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.check.Reporter;
import dev.saccade.datasets.convert.source.SourceFolder;
import dev.saccade.datasets.convert.source.TextFile;
import dev.saccade.datasets.labels.ClassName;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Function;

/** A folder of labels while it is read: its files, faults and notes. */
public final class ConversionContext implements Reporter {

    /** The start of labelme's list, which names no classes. */
    private static final Set<String> NO_CLASSES = Set.of("__ignore__", "_background_");

    private final List<Finding> findings = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private final SourceFolder folder;
    private final Runnable onImage;

    /**
     * Lists a folder.
     *
     * @param onImage called after each image, from the calling thread
     * @throws dev.saccade.core.SaccadeException if it is no folder, or cannot be listed
     */
    public ConversionContext(Path folder, Runnable onImage) {
        this.folder = SourceFolder.list(folder, this);
        this.onImage = onImage;
    }

    public SourceFolder folder() {
        return folder;
    }

    @Override
    public void accept(Finding finding) {
        findings.add(finding);
    }

    public List<Finding> findings() {
        return findings;
    }

    /** Returns where a file is, as messages state it. */
    public String place(String file) {
        return folder.path(file).toString();
    }

    /** Adds a decision for the user, as a sentence. */
    public void note(String sentence) {
        notes.add(sentence);
    }

    public List<String> notes() {
        return notes;
    }

    /** Returns the lines of a text file; none, and an error, if it cannot be read. */
    public List<TextFile.Line> lines(String file) {
        List<TextFile.Line> lines = new ArrayList<>();
        attempt(place(file), () -> lines.addAll(TextFile.lines(folder.path(file))));
        return lines;
    }

    /** Returns the names in the first file of class names that exists, one a line. */
    public Optional<List<String>> classNames(String... candidates) {
        return folder.first(candidates).map(this::readClassNames);
    }

    /** Returns the names in a file, one a line. */
    public List<String> readClassNames(String file) {
        List<String> names =
                lines(file).stream()
                        .map(line -> ClassName.of(line.text()))
                        .filter(name -> !name.isEmpty() && !NO_CLASSES.contains(name))
                        .toList();
        requireDistinct(place(file), names);
        return names;
    }

    /** Reports names that occur twice. */
    public void requireDistinct(String place, List<String> names) {
        Set<String> seen = new HashSet<>();
        names.stream()
                .filter(name -> !seen.add(name))
                .distinct()
                .forEach(name -> error(place, "class \"%s\" comes twice", name));
    }

    /** Warns of images without labels: they are not images without objects. */
    public void reportUnlabeled(List<String> images, Set<String> labeled, String missing) {
        List<String> others = images.stream().filter(image -> !labeled.contains(image)).toList();
        if (!others.isEmpty()) {
            warning(
                    folder.toString(),
                    "%s without %s, such as %s, %s left out",
                    Count.of(others.size(), "image"),
                    missing,
                    others.get(0),
                    others.size() == 1 ? "is" : "are");
        }
    }

    /** Reads files on all processors; returns the results in the order of the files. */
    public <F, T> List<T> inParallel(Collection<F> files, Function<F, T> reader) {
        return inParallel(files, reader, () -> {});
    }

    /** Likewise reads images, whose number is reported as progress. */
    public <F> List<LabeledImage> images(Collection<F> files, Function<F, LabeledImage> reader) {
        return inParallel(files, reader, onImage);
    }

    private static <F, T> List<T> inParallel(
            Collection<F> files, Function<F, T> reader, Runnable onEach) {
        List<Callable<T>> tasks = new ArrayList<>();
        files.forEach(file -> tasks.add(() -> reader.apply(file)));
        ImmutableList.Builder<T> results = ImmutableList.builder();
        int threads = Runtime.getRuntime().availableProcessors();
        try (Workers workers = new Workers("label-reader", threads)) {
            workers.run(
                    tasks,
                    result -> {
                        results.add(result);
                        onEach.run();
                    });
        }
        return results.build();
    }
}

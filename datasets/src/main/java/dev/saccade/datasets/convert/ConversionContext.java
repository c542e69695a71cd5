package dev.saccade.datasets.convert;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Count;
import dev.saccade.core.Workers;
import dev.saccade.datasets.ClassName;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.check.Reporter;
import dev.saccade.datasets.convert.source.SourceFolder;
import dev.saccade.datasets.convert.source.TextFile;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Function;

/** State of a conversion: the folder, and the faults and notes found so far. */
public final class ConversionContext implements Reporter {

    /** Special names at the start of labelme's class list, which are not classes. */
    private static final Set<String> NO_CLASSES = Set.of("__ignore__", "_background_");

    private final List<Finding> findings = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private final SourceFolder folder;
    private final Runnable onImage;
    private boolean imageClasses;

    /** Lists the files; {@code onImage} is called after each image by the calling thread. */
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

    public String place(String file) {
        return folder.path(file).toString();
    }

    /** States that images have classes instead of objects. */
    public void readImageClasses() {
        imageClasses = true;
    }

    public boolean hasImageClasses() {
        return imageClasses;
    }

    /** Adds a note for the user about a decision, as a full sentence. */
    public void note(String sentence) {
        notes.add(sentence);
    }

    public List<String> notes() {
        return notes;
    }

    /** Returns the lines of a text file; reports an error and returns none if it is unreadable. */
    public List<TextFile.Line> lines(String file) {
        List<TextFile.Line> lines = new ArrayList<>();
        attempt(place(file), () -> lines.addAll(TextFile.lines(folder.path(file))));
        return lines;
    }

    public Optional<List<String>> classNames(String... candidates) {
        return folder.first(candidates).map(this::readClassNames);
    }

    public List<String> readClassNames(String file) {
        List<String> names =
                lines(file).stream()
                        .map(line -> ClassName.of(line.text()))
                        .filter(name -> !name.isEmpty() && !NO_CLASSES.contains(name))
                        .toList();
        requireDistinct(place(file), names);
        return names;
    }

    public void requireDistinct(String place, List<String> names) {
        Set<String> seen = new HashSet<>();
        names.stream()
                .filter(name -> !seen.add(name))
                .distinct()
                .forEach(name -> error(place, "class \"%s\" occurs twice", name));
    }

    /** Warns about images without labels, which are skipped rather than read as background. */
    public void reportUnlabeled(List<String> images, Set<String> labeled, String missing) {
        List<String> others = images.stream().filter(image -> !labeled.contains(image)).toList();
        if (!others.isEmpty()) {
            warning(
                    folder.toString(),
                    "%s without %s, such as %s, %s skipped",
                    Count.of(others.size(), "image"),
                    missing,
                    others.get(0),
                    others.size() == 1 ? "is" : "are");
        }
    }

    public <F, T> List<T> inParallel(Collection<F> files, Function<F, T> reader) {
        return inParallel(files, reader, () -> {});
    }

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

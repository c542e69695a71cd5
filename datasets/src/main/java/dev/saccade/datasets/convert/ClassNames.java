package dev.saccade.datasets.convert;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.labels.ClassName;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** The names of classes, where a file of them lies beside labels. */
final class ClassNames {

    /** What labelme's list begins with, which are no classes. */
    private static final Set<String> NONE = Set.of("__ignore__", "_background_");

    private ClassNames() {}

    /**
     * Returns the names in the first file of names that is there, one a line.
     *
     * @param candidates paths of such files
     */
    static Optional<ImmutableList<String>> find(
            SourceFolder folder, Consumer<Finding> findings, String... candidates) {
        return folder.first(candidates).map(name -> read(folder.path(name), findings));
    }

    /** Returns the names in a file, one a line; reports those that come twice. */
    static ImmutableList<String> read(Path file, Consumer<Finding> findings) {
        List<String> names;
        try {
            names =
                    TextFile.lines(file).stream()
                            .map(ClassName::of)
                            .filter(name -> !name.isEmpty() && !NONE.contains(name))
                            .toList();
        } catch (SaccadeException e) {
            findings.accept(Finding.error(file.toString(), e));
            return ImmutableList.of();
        }
        requireDistinct(file.toString(), names, findings);
        return ImmutableList.copyOf(names);
    }

    /** Reports names that come twice: nobody could tell such classes apart. */
    static void requireDistinct(String file, List<String> names, Consumer<Finding> findings) {
        Set<String> seen = new HashSet<>();
        names.stream()
                .filter(name -> !seen.add(name))
                .distinct()
                .forEach(
                        name ->
                                findings.accept(
                                        Finding.error(
                                                file, "", "class \"" + name + "\" comes twice")));
    }
}

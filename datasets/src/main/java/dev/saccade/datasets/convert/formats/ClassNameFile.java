package dev.saccade.datasets.convert.formats;

import dev.saccade.datasets.convert.ConversionContext;
import dev.saccade.datasets.labels.ClassName;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Reads files with the name of a class on each line. */
final class ClassNameFile {

    /** The start of labelme's list, which names no classes. */
    private static final Set<String> NONE = Set.of("__ignore__", "_background_");

    private ClassNameFile() {}

    /** Returns the names in the first file that exists. */
    static Optional<List<String>> find(ConversionContext context, String... candidates) {
        return context.folder().first(candidates).map(file -> read(context, file));
    }

    /** Returns the names in a file. */
    static List<String> read(ConversionContext context, String file) {
        List<String> names =
                context.lines(file).stream()
                        .map(line -> ClassName.of(line.text()))
                        .filter(name -> !name.isEmpty() && !NONE.contains(name))
                        .toList();
        requireDistinct(context, context.place(file), names);
        return names;
    }

    /** Reports names that occur twice: nobody could tell such classes apart. */
    static void requireDistinct(ConversionContext context, String place, List<String> names) {
        Set<String> seen = new HashSet<>();
        names.stream()
                .filter(name -> !seen.add(name))
                .distinct()
                .forEach(name -> context.error(place, "class \"%s\" comes twice", name));
    }
}

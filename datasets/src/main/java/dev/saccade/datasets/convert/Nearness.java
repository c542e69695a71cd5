package dev.saccade.datasets.convert;

import com.google.common.base.CharMatcher;
import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;

import dev.saccade.datasets.labels.PathNames;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/**
 * Which paths belong to a file of labels, where several would do: those in or below its folder,
 * else in the next folder above that has any; of these the ones that share most words with its
 * path, such as {@code cam2} or {@code train}, and have the fewest others.
 */
final class Nearness {

    private static final CharMatcher BETWEEN_WORDS = CharMatcher.anyOf("/_-. ");

    private Nearness() {}

    /** Returns the nearest of some paths, more than one if none is nearer than the others. */
    static List<String> nearest(String labels, Collection<String> paths) {
        if (paths.size() < 2) {
            return ImmutableList.copyOf(paths);
        }
        Set<String> words = words(labels);
        Comparator<String> order =
                Comparator.<String>comparingInt(path -> levelsUp(labels, path))
                        .thenComparing(path -> !path.equals(SourceFolder.parent(labels)))
                        .thenComparingInt(path -> -shared(words, path))
                        .thenComparingInt(path -> -PathNames.contained(labels, path))
                        .thenComparingInt(path -> PathNames.extra(labels, path));
        return paths.stream()
                .min(order)
                .map(
                        first ->
                                paths.stream()
                                        .filter(path -> order.compare(path, first) == 0)
                                        .collect(ImmutableList.toImmutableList()))
                .orElse(ImmutableList.of());
    }

    /** Returns how many folders above that of the labels the first one with the path is. */
    private static int levelsUp(String labels, String path) {
        int levels = 0;
        String folder = SourceFolder.parent(labels);
        while (!path.startsWith(folder)) {
            folder = SourceFolder.parent(folder.substring(0, folder.length() - 1));
            levels++;
        }
        return levels;
    }

    private static int shared(Set<String> words, String path) {
        return (int) words(path).stream().filter(words::contains).count();
    }

    /** Returns the words of a path; those that mean the same part are one. */
    private static Set<String> words(String path) {
        return Splitter.on(BETWEEN_WORDS)
                .omitEmptyStrings()
                .splitToStream(NameKey.of(path))
                .map(word -> Part.named(word).map(Part::key).orElse(word))
                .collect(ImmutableSet.toImmutableSet());
    }
}

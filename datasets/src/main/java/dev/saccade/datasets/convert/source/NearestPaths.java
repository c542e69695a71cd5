package dev.saccade.datasets.convert.source;

import com.google.common.base.CharMatcher;
import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableSet;

import dev.saccade.datasets.Split;
import dev.saccade.datasets.labels.PathNames;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/**
 * Selects the paths that belong to a label file among several candidates: its folder, otherwise
 * paths below this folder, otherwise paths below the nearest parent folder. Of several, prefers the
 * ones that share most words with its path, such as {@code cam2}, and have the fewest other words.
 */
public final class NearestPaths {

    private NearestPaths() {}

    public static List<String> nearest(String labels, Collection<String> paths) {
        if (paths.size() < 2) {
            return List.copyOf(paths);
        }
        Set<String> words = words(labels);
        Comparator<String> order =
                Comparator.<String>comparingInt(path -> levelsUp(labels, path))
                        .thenComparing(path -> !path.equals(SourceFolder.parent(labels)))
                        .thenComparing(
                                path -> -words(path).stream().filter(words::contains).count())
                        .thenComparingInt(path -> -PathNames.countContainedFolders(labels, path))
                        .thenComparingInt(path -> PathNames.countUnmatchedWords(labels, path));
        String first = paths.stream().min(order).orElseThrow();
        return paths.stream().filter(path -> order.compare(path, first) == 0).toList();
    }

    /** Returns how often to go up from the folder of the labels to reach a folder with the path. */
    private static int levelsUp(String labels, String path) {
        int levels = 0;
        String folder = SourceFolder.parent(labels);
        while (!path.startsWith(folder)) {
            folder = SourceFolder.above(folder);
            levels++;
        }
        return levels;
    }

    private static Set<String> words(String path) {
        return Splitter.on(CharMatcher.anyOf("/_-. "))
                .omitEmptyStrings()
                .splitToStream(NameKey.of(path))
                .map(word -> Split.named(word).map(Split::key).orElse(word))
                .collect(ImmutableSet.toImmutableSet());
    }
}

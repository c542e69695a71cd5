package dev.saccade.datasets.classification;

import com.google.common.base.Supplier;
import com.google.common.base.Suppliers;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.check.DataFolder;
import dev.saccade.datasets.check.Findings;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds the shards of a data set. */
final class ShardPaths {

    private static final Pattern RANGE = Pattern.compile("\\{(\\d{1,9})\\.\\.(\\d{1,9})}");
    private static final Pattern WILDCARD = Pattern.compile("[*?\\[{]");
    private static final String SUFFIX = ".tar";

    /** Maximum number of paths after ranges are expanded. */
    static final int MAX_SHARDS = 100_000;

    private ShardPaths() {}

    /** Returns whether a pattern is a path of tar archives with ascending ranges. */
    static boolean isValid(String pattern) {
        long paths = count(pattern);
        if (!pattern.endsWith(SUFFIX) || paths < 1 || paths > MAX_SHARDS) {
            return false;
        }
        try {
            FileSystems.getDefault().getPathMatcher("glob:" + Path.of(pattern));
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** Returns the number of paths of a pattern; 0 if a range descends, at most 10^9. */
    static long count(String pattern) {
        long count = 1;
        Matcher range = RANGE.matcher(pattern);
        while (range.find()) {
            int first = Integer.parseInt(range.group(1));
            int last = Integer.parseInt(range.group(2));
            count = Math.min(1_000_000_000, count * Math.max(0, last - first + 1L));
        }
        return count;
    }

    /** Returns the files of paths with wildcards and ranges; reports paths without files. */
    static List<Path> of(Path root, List<String> patterns, Findings findings) {
        Set<Path> files = new LinkedHashSet<>();
        Supplier<String> content = Suppliers.memoize(() -> DataFolder.content(root));
        for (String pattern : patterns) {
            for (String path : expand(pattern)) {
                List<Path> found = matching(root, path);
                if (found.isEmpty()) {
                    findings.error(
                            root + "/" + path,
                            "no such file; data.train.shards and data.val.shards list tar"
                                    + " archives; %s",
                            content.get());
                }
                files.addAll(found);
            }
        }
        return List.copyOf(files);
    }

    /** Replaces a range such as {@code {08..11}} by each of its numbers. */
    private static List<String> expand(String pattern) {
        Matcher range = RANGE.matcher(pattern);
        if (!range.find()) {
            return List.of(pattern);
        }
        int first = Integer.parseInt(range.group(1));
        int last = Integer.parseInt(range.group(2));
        List<String> paths = new ArrayList<>();
        for (int i = first; i <= last; i++) {
            StringBuilder number = new StringBuilder().append(i);
            while (number.length() < range.group(1).length()) {
                number.insert(0, '0');
            }
            paths.addAll(
                    expand(
                            pattern.substring(0, range.start())
                                    + number
                                    + pattern.substring(range.end())));
        }
        return paths;
    }

    /** Returns the folder of each pattern, for messages. */
    static String[] folders(List<String> patterns) {
        return patterns.stream()
                .map(pattern -> pattern.indexOf('/') < 0 ? "shards" : folder(pattern))
                .distinct()
                .toArray(String[]::new);
    }

    private static String folder(String pattern) {
        return pattern.substring(0, Math.max(1, pattern.lastIndexOf('/')));
    }

    private static List<Path> matching(Path root, String path) {
        String name = path.substring(path.lastIndexOf('/') + 1);
        Path folder = path.indexOf('/') < 0 ? root : root.resolve(folder(path));
        Path file = folder.resolve(name);
        if (Files.exists(file)) {
            return List.of(file);
        }
        if (!WILDCARD.matcher(name).find() || !Files.isDirectory(folder)) {
            return List.of();
        }
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(folder, name)) {
            all.forEach(files::add);
        } catch (IOException | DirectoryIteratorException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", folder, e.getMessage());
        }
        files.sort(null);
        return files;
    }
}

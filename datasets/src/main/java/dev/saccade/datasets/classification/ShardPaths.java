package dev.saccade.datasets.classification;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.check.DataFolder;
import dev.saccade.datasets.check.Findings;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
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
    private static final int MAX_SHARDS = 1_000_000;

    private ShardPaths() {}

    /** Returns the files of paths with wildcards and ranges; reports paths without files. */
    static List<Path> of(Path root, List<String> patterns, Findings findings) {
        Set<Path> files = new LinkedHashSet<>();
        for (String pattern : patterns) {
            for (String path : expand(pattern)) {
                List<Path> found = matching(root, path);
                if (found.isEmpty()) {
                    findings.error(
                            root + "/" + path,
                            "no such file; data.train.shards and data.val.shards list tar"
                                    + " archives; %s",
                            DataFolder.content(root));
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
        if (last < first || last - first >= MAX_SHARDS) {
            throw SaccadeException.user(
                    "shards: got the range %s, expected ascending numbers", range.group());
        }
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
        if (name.indexOf('*') < 0 && name.indexOf('?') < 0) {
            Path file = folder.resolve(name);
            return Files.exists(file) ? List.of(file) : List.of();
        }
        if (!Files.isDirectory(folder)) {
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

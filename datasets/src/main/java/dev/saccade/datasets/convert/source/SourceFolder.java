package dev.saccade.datasets.convert.source;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableListMultimap;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Multimaps;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.check.DataFolder;
import dev.saccade.datasets.check.Reporter;
import dev.saccade.datasets.image.ImageNames;

import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * The files of a folder of labels, listed once without hidden files, by their relative paths with
 * {@code /}. Paths in labels are looked up in this list, and no link is followed out of the folder,
 * so nothing outside is ever read.
 */
public final class SourceFolder {

    private static final Pattern DRIVE = Pattern.compile("[A-Za-z]:");

    private final Path root;
    private final ImmutableList<String> files;

    /** Relative paths of files and folders. */
    private final ImmutableSet<String> paths;

    private final ImmutableMap<String, Path> renamed;
    private final ImmutableListMultimap<String, String> imagesByStem;
    private final ImmutableListMultimap<String, String> imagesByKey;
    private final ImmutableListMultimap<String, String> pathsByKey;

    private SourceFolder(Path root, FileLister lister) {
        this.root = root;
        this.files = ImmutableList.sortedCopyOf(lister.files);
        this.paths = ImmutableSet.<String>builder().addAll(files).addAll(lister.folders).build();
        this.renamed = ImmutableMap.copyOf(lister.renamed);
        this.imagesByStem = Multimaps.index(images(), SourceFolder::stem);
        this.imagesByKey = Multimaps.index(images(), NameKey::ofBareStem);
        this.pathsByKey = Multimaps.index(paths, NameKey::of);
    }

    /**
     * Lists the files of a folder, which may be a link; reports invalid names and links that leave
     * the folder.
     */
    public static SourceFolder list(Path root, Reporter faults) {
        DataFolder.requireFolder(root);
        try {
            FileLister lister = new FileLister(root, faults);
            Files.walkFileTree(
                    root, EnumSet.of(FileVisitOption.FOLLOW_LINKS), Integer.MAX_VALUE, lister);
            return new SourceFolder(root, lister);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be listed: %s", root, e.getMessage());
        }
    }

    public ImmutableList<String> files() {
        return files;
    }

    public ImmutableList<String> ending(String suffix) {
        return matching(file -> file.toLowerCase(Locale.ROOT).endsWith(suffix));
    }

    public ImmutableList<String> images() {
        return matching(SourceFolder::isImage);
    }

    public static boolean isImage(String file) {
        return ImageNames.isImage(file);
    }

    private ImmutableList<String> matching(Predicate<String> condition) {
        return files.stream().filter(condition).collect(ImmutableList.toImmutableList());
    }

    public Optional<String> first(String... candidates) {
        return List.of(candidates).stream().filter(paths::contains).findFirst();
    }

    public boolean has(String path) {
        return paths.contains(path);
    }

    /** Returns whether an image has exactly this path, except for its suffix. */
    public boolean hasImage(String stem) {
        return imagesByStem.containsKey(stem);
    }

    /**
     * Returns the images of a path without suffix; if there are none, the only image whose name
     * differs in a way that {@link NameKey} ignores.
     */
    public List<String> imagesOf(String stem) {
        return hasImage(stem)
                ? imagesByStem.get(stem)
                : only(imagesByKey.get(NameKey.ofBareStem(stem))).stream().toList();
    }

    /** Returns the only element of a list; empty if it has none or several. */
    public static Optional<String> only(List<String> list) {
        return list.size() == 1 ? Optional.of(list.get(0)) : Optional.empty();
    }

    public Path path(String file) {
        return renamed.getOrDefault(file, root.resolve(file));
    }

    @Override
    public String toString() {
        return root.toString();
    }

    /** Returns a path without the suffix of its file. */
    public static String stem(String path) {
        int dot = path.lastIndexOf('.');
        return dot > path.lastIndexOf('/') ? path.substring(0, dot) : path;
    }

    /** Returns the folder of a file with a trailing slash; empty for the root. */
    public static String parent(String path) {
        return path.substring(0, path.lastIndexOf('/') + 1);
    }

    /** Returns the parent of a folder, both with a trailing slash. */
    public static String above(String folder) {
        return parent(folder.substring(0, Math.max(0, folder.length() - 1)));
    }

    public static String fileName(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    public static String baseName(String path) {
        return stem(fileName(path));
    }

    /**
     * Returns the file or folder that a path in labels refers to: the longest end of the path that
     * exists, relative to the folder of the labels or the root. So paths of another machine, such
     * as {@code C:\work\birds\images\a.jpg}, and {@code ../train/images} are found. An end without
     * an exact match refers to the only file with the same {@link NameKey}, if there is one.
     *
     * @param from the folder that the path is relative to, see {@link #parent}
     * @param path as written, with slashes of either kind
     */
    public Optional<String> find(String from, String path) {
        return find(List.of(from, ""), path);
    }

    public Optional<String> findFrom(List<String> folders, String path) {
        return folders.stream().flatMap(from -> find(from, path).stream()).findFirst();
    }

    public Optional<String> findBelow(String from, String path) {
        return find(List.of(from), path);
    }

    private Optional<String> find(List<String> starts, String path) {
        String written = DRIVE.matcher(path.replace('\\', '/')).replaceFirst("");
        String absolute = root.toAbsolutePath().normalize().toString().replace('\\', '/') + "/";
        String end = written.startsWith(absolute) ? written.substring(absolute.length()) : written;
        while (true) {
            String rest = end;
            List<String> candidates =
                    starts.stream().flatMap(start -> normalized(start + rest).stream()).toList();
            Optional<String> found =
                    candidates.stream()
                            .filter(paths::contains)
                            .filter(p -> !p.isEmpty() || rest.equals(".") || rest.equals("./"))
                            .findFirst()
                            .or(() -> sameKey(candidates));
            int slash = end.indexOf('/');
            if (found.isPresent() || slash < 0) {
                return found;
            }
            end = end.substring(slash + 1);
        }
    }

    private Optional<String> sameKey(List<String> candidates) {
        return candidates.stream()
                .flatMap(path -> only(pathsByKey.get(NameKey.of(path))).stream())
                .filter(path -> !path.isEmpty())
                .findFirst();
    }

    /** Resolves {@code .} and {@code ..}; empty if the path leaves the folder. */
    static Optional<String> normalized(String path) {
        Deque<String> names = new ArrayDeque<>();
        for (String name : Splitter.on('/').split(path)) {
            if (name.equals("..")) {
                if (names.pollLast() == null) {
                    return Optional.empty();
                }
            } else if (!name.isEmpty() && !name.equals(".")) {
                names.addLast(name);
            }
        }
        return Optional.of(String.join("/", names));
    }
}

package dev.saccade.datasets.convert;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Iterables;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.check.DataFolder;
import dev.saccade.datasets.image.ImageNames;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * The files of a folder of labels, listed once; hidden ones are passed over. Files are called by
 * their paths from the folder, with {@code /} between the names. What labels say of paths is looked
 * up in this list, and no link is followed out of the folder, so nothing outside is ever read.
 */
final class SourceFolder {

    private static final Pattern DRIVE = Pattern.compile("[A-Za-z]:");

    private final Path root;
    private final ImmutableList<String> files;
    private final ImmutableList<String> folders;
    private final Set<String> paths;
    private final ImmutableMap<String, Path> renamed;
    private final NameIndex photographsByStem;
    private final NameIndex photographsByKey;
    private final NameIndex pathsByKey;

    private SourceFolder(Path root, Lister lister) {
        this.root = root;
        this.files = ImmutableList.sortedCopyOf(lister.files);
        this.renamed = ImmutableMap.copyOf(lister.renamed);
        this.folders =
                ImmutableList.sortedCopyOf(
                        Comparator.comparingLong(SourceFolder::depth)
                                .thenComparing(Comparator.naturalOrder()),
                        lister.folders);
        this.paths = new HashSet<>(folders);
        paths.addAll(files);
        this.photographsByStem = new NameIndex(photographs(), SourceFolder::stem);
        this.photographsByKey = new NameIndex(photographs(), NameKey::ofBareStem);
        this.pathsByKey = new NameIndex(Iterables.concat(files, folders), NameKey::of);
    }

    /**
     * Lists the files of a folder, which may be a link itself.
     *
     * @param findings told of files whose names are no text, and of links that lead out of the
     *     folder or to one above: none of them is listed
     * @throws SaccadeException if it is no folder, or cannot be listed
     */
    static SourceFolder list(Path root, Consumer<Finding> findings) {
        DataFolder.requireFolder(root);
        try {
            Lister lister = new Lister(root, findings);
            Files.walkFileTree(
                    root, EnumSet.of(FileVisitOption.FOLLOW_LINKS), Integer.MAX_VALUE, lister);
            return new SourceFolder(root, lister);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be listed: %s", root, e.getMessage());
        }
    }

    private static final class Lister extends SimpleFileVisitor<Path> {

        private final Path root;
        private final Path realRoot;
        private final Consumer<Finding> findings;
        private final List<String> files = new ArrayList<>();
        private final Set<String> folders = new HashSet<>(Set.of(""));

        /** Files whose names have backslashes, as some archives of Windows leave them. */
        private final Map<String, Path> renamed = new HashMap<>();

        Lister(Path root, Consumer<Finding> findings) throws IOException {
            this.root = root;
            this.realRoot = root.toRealPath();
            this.findings = findings;
        }

        @Override
        public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes)
                throws IOException {
            if (folder.equals(root)) {
                return FileVisitResult.CONTINUE;
            }
            if (isHidden(folder) || leadsOut(folder)) {
                return FileVisitResult.SKIP_SUBTREE;
            }
            folders.add(name(folder));
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                throws IOException {
            if (!isHidden(file) && !leadsOut(file)) {
                add(file);
            }
            return FileVisitResult.CONTINUE;
        }

        private boolean leadsOut(Path path) throws IOException {
            // One that leads nowhere is a file that cannot be read.
            if (!Files.isSymbolicLink(path) || !Files.exists(path)) {
                return false;
            }
            Path real = path.toRealPath();
            if (real.startsWith(realRoot)) {
                return false;
            }
            findings.accept(
                    Finding.error(
                            path.toString(),
                            "",
                            Text.format(
                                            "is a link that leads out of the folder, to %s; put what it leads to in",
                                            real)
                                    + " its place (cp -rL copies a folder so)"));
            return true;
        }

        private void add(Path file) {
            String name = name(file);
            if (isText(file, name)) {
                files.add(name);
                return;
            } else if (isFree(name) && renamed.putIfAbsent(name, file) == null) {
                files.add(name);
                for (String folder = parent(name); !folder.isEmpty(); ) {
                    String bare = folder.substring(0, folder.length() - 1);
                    folders.add(bare);
                    folder = parent(bare);
                }
                return;
            }
            String message = "its name has what is no text, such as the end of a line; rename it";
            findings.accept(
                    isPhotograph(name)
                            ? Finding.error(file.toString(), "", message)
                            : Finding.warning(file.toString(), "", message + ", or leave it out"));
        }

        /** Returns whether the name in letters leads to the file, and is of one line. */
        private boolean isText(Path file, String name) {
            try {
                return name.chars().noneMatch(Character::isISOControl)
                        && root.resolve(name).equals(file);
            } catch (InvalidPathException e) {
                return false;
            }
        }

        /** Returns whether a name is text, stays in the folder, and is that of no other file. */
        private boolean isFree(String name) {
            return name.chars().noneMatch(Character::isISOControl)
                    && name.chars().noneMatch(c -> c == '\ufffd')
                    && normalized(name).filter(name::equals).isPresent()
                    && !Files.exists(root.resolve(name));
        }

        private String name(Path file) {
            return SourceFolder.name(root, file);
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
            if (failure instanceof AccessDeniedException) {
                findings.accept(Finding.error(file.toString(), "", "may not be read"));
            } else if (failure instanceof FileSystemLoopException) {
                findings.accept(
                        Finding.warning(
                                file.toString(),
                                "",
                                "is a link to a folder above it, it is not followed"));
            } else {
                throw failure;
            }
            return FileVisitResult.CONTINUE;
        }
    }

    private static String name(Path root, Path file) {
        return root.relativize(file).toString().replace('\\', '/');
    }

    private static boolean isHidden(Path path) {
        String name = path.getFileName().toString();
        return name.startsWith(".") || name.equals("__MACOSX");
    }

    /** Returns all files, sorted. */
    ImmutableList<String> files() {
        return files;
    }

    /** Returns all folders, sorted, the outermost first; it is empty itself. */
    ImmutableList<String> folders() {
        return folders;
    }

    private static long depth(String path) {
        return path.isEmpty() ? -1 : path.chars().filter(c -> c == '/').count();
    }

    /** Returns the files whose names end in something, whatever the case. */
    ImmutableList<String> ending(String ending) {
        return matching(file -> file.toLowerCase(Locale.ROOT).endsWith(ending));
    }

    /** Returns the files that are named like images that are read. */
    ImmutableList<String> photographs() {
        return matching(SourceFolder::isPhotograph);
    }

    /** Returns whether a file is named like an image that is read. */
    static boolean isPhotograph(String file) {
        return ImageNames.isImage(file);
    }

    private ImmutableList<String> matching(Predicate<String> wanted) {
        return files.stream().filter(wanted).collect(ImmutableList.toImmutableList());
    }

    /** Returns the first of some files that is there. */
    Optional<String> first(String... candidates) {
        return List.of(candidates).stream().filter(paths::contains).findFirst();
    }

    /** Returns whether there is a file or folder of this path. */
    boolean has(String path) {
        return paths.contains(path);
    }

    /** Returns whether an image has exactly this path, but for its ending. */
    boolean hasPhotograph(String stem) {
        return !photographsByStem.all(stem).isEmpty();
    }

    /**
     * Returns the images of a path without its ending; if there are none, the only one whose name
     * differs in a way that {@link NameKey} passes over.
     */
    List<String> photographsOf(String stem) {
        List<String> exact = photographsByStem.all(stem);
        return exact.isEmpty()
                ? photographsByKey.only(NameKey.ofBareStem(stem)).stream().toList()
                : exact;
    }

    /** Returns where a file is. */
    Path path(String file) {
        return renamed.getOrDefault(file, root.resolve(file));
    }

    /** Returns where the folder is. */
    @Override
    public String toString() {
        return root.toString();
    }

    /** Returns a path without the ending of its file. */
    static String stem(String path) {
        int dot = path.lastIndexOf('.');
        return dot > path.lastIndexOf('/') ? path.substring(0, dot) : path;
    }

    /** Returns the folder that a file is in, with a slash behind it; nothing for that of all. */
    static String parent(String path) {
        return path.substring(0, path.lastIndexOf('/') + 1);
    }

    /** Returns the name of a file in its folder. */
    static String fileName(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /**
     * Returns the file or folder that labels mean by a path: the longest end of it that is there,
     * seen from the folder of the labels or from the top. So paths of another machine lead to their
     * files, {@code C:\work\birds\images\a.jpg} as well as {@code ../train/images}. Where no file
     * has the name itself, the only file with the same {@link NameKey} is returned.
     *
     * @param from the folder that the path stands in, as {@link #parent} has it
     * @param path as it stands there, with slashes of either kind
     */
    Optional<String> find(String from, String path) {
        return find(List.of(from, ""), path);
    }

    /** Returns likewise a file or folder below a folder, which has a slash behind it. */
    Optional<String> findBelow(String from, String path) {
        return find(List.of(from), path);
    }

    private Optional<String> find(List<String> starts, String path) {
        String written = DRIVE.matcher(path.replace('\\', '/')).replaceFirst("");
        String absolute = root.toAbsolutePath().normalize().toString().replace('\\', '/') + "/";
        if (written.startsWith(absolute)) {
            written = written.substring(absolute.length());
        }
        while (true) {
            for (String start : starts) {
                Optional<String> found = normalized(start + written).filter(paths::contains);
                if (found.isPresent() && !(found.get().isEmpty() && !isDot(written))) {
                    return found;
                }
            }
            for (String start : starts) {
                Optional<String> alike =
                        normalized(start + written).map(NameKey::of).flatMap(pathsByKey::only);
                if (alike.isPresent() && !alike.get().isEmpty()) {
                    return alike;
                }
            }
            int slash = written.indexOf('/');
            if (slash < 0) {
                return Optional.empty();
            }
            written = written.substring(slash + 1);
        }
    }

    private static boolean isDot(String path) {
        return path.equals(".") || path.equals("./");
    }

    /** Returns a path without {@code .} and {@code ..}; nothing if it leads out of the folder. */
    private static Optional<String> normalized(String path) {
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

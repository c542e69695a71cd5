package dev.saccade.datasets.convert.source;

import dev.saccade.datasets.check.Reporter;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Lists files by their relative paths; skips hidden files and links that leave the folder. */
final class FileLister extends SimpleFileVisitor<Path> {

    private static final String NO_TEXT =
            "file name contains control characters or is not valid text; rename the file";

    private final Path root;
    private final Path realRoot;
    private final Reporter faults;
    final List<String> files = new ArrayList<>();
    final Set<String> folders = new HashSet<>(Set.of(""));

    /** Files with backslashes in their names, from Windows archives, by path with slashes. */
    final Map<String, Path> renamed = new HashMap<>();

    FileLister(Path root, Reporter faults) throws IOException {
        this.root = root;
        this.realRoot = root.toRealPath();
        this.faults = faults;
    }

    @Override
    public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes)
            throws IOException {
        if (folder.equals(root)) {
            return FileVisitResult.CONTINUE;
        } else if (isSkipped(folder)) {
            return FileVisitResult.SKIP_SUBTREE;
        }
        folders.add(name(folder));
        return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
        if (!isSkipped(file)) {
            add(file);
        }
        return FileVisitResult.CONTINUE;
    }

    private boolean isSkipped(Path path) throws IOException {
        String name = path.getFileName().toString();
        if (name.startsWith(".") || name.equals("__MACOSX")) {
            return true;
        }
        // A broken link is a file that cannot be read.
        if (!Files.isSymbolicLink(path) || !Files.exists(path)) {
            return false;
        }
        Path real = path.toRealPath();
        boolean leadsOut = !real.startsWith(realRoot);
        if (leadsOut) {
            faults.error(
                    path.toString(),
                    "links to %s outside of the folder; replace the link with a copy (cp -rL)",
                    real);
        }
        return leadsOut;
    }

    private void add(Path file) {
        String name = name(file);
        boolean isText = name.chars().noneMatch(Character::isISOControl);
        if (isText && leadsTo(name, file)) {
            files.add(name);
        } else if (isText && isFree(name) && renamed.putIfAbsent(name, file) == null) {
            files.add(name);
            for (String up = SourceFolder.parent(name);
                    !up.isEmpty();
                    up = SourceFolder.above(up)) {
                folders.add(up.substring(0, up.length() - 1));
            }
        } else if (SourceFolder.isImage(name)) {
            faults.error(file.toString(), NO_TEXT);
        } else {
            faults.warning(file.toString(), NO_TEXT);
        }
    }

    private boolean leadsTo(String name, Path file) {
        try {
            return root.resolve(name).equals(file);
        } catch (InvalidPathException e) {
            return false;
        }
    }

    private boolean isFree(String name) {
        return name.indexOf('\ufffd') < 0
                && SourceFolder.normalized(name).filter(name::equals).isPresent()
                && !Files.exists(root.resolve(name));
    }

    private String name(Path file) {
        return root.relativize(file).toString().replace('\\', '/');
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
        if (failure instanceof AccessDeniedException) {
            faults.error(file.toString(), "cannot be read: permission denied");
        } else if (failure instanceof FileSystemLoopException) {
            faults.warning(file.toString(), "links to a parent folder; not followed");
        } else {
            throw failure;
        }
        return FileVisitResult.CONTINUE;
    }
}

package dev.saccade.configgen;

import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * The folders and files of a data set, as far down as layouts go. Links are followed; hidden ones
 * are left out.
 */
final class FolderTree {

    private static final int DEPTH = 3;

    private FolderTree() {}

    /** Returns a folder and those below it, sorted, from the outermost on. */
    static List<Path> folders(Path root) {
        return folders(root, DEPTH);
    }

    static List<Path> folders(Path root, int depth) {
        List<Path> folders = new ArrayList<>();
        try {
            Files.walkFileTree(
                    root,
                    EnumSet.of(FileVisitOption.FOLLOW_LINKS),
                    depth,
                    new SimpleFileVisitor<>() {
                        @Override
                        public FileVisitResult preVisitDirectory(
                                Path folder, BasicFileAttributes facts) {
                            if (!folder.equals(root) && isHidden(folder)) {
                                return FileVisitResult.SKIP_SUBTREE;
                            }
                            folders.add(folder);
                            return FileVisitResult.CONTINUE;
                        }

                        @Override
                        public FileVisitResult visitFile(Path file, BasicFileAttributes facts) {
                            // Folders at the largest depth are visited as files.
                            if (facts.isDirectory() && !isHidden(file)) {
                                folders.add(file);
                            }
                            return FileVisitResult.CONTINUE;
                        }

                        @Override
                        public FileVisitResult visitFileFailed(Path file, IOException failure)
                                throws IOException {
                            if (failure instanceof FileSystemLoopException) {
                                return FileVisitResult.CONTINUE;
                            }
                            throw failure;
                        }
                    });
        } catch (IOException e) {
            throw unreadable(root, e);
        }
        return folders.stream()
                .sorted(Comparator.comparingInt(Path::getNameCount).thenComparing(Path::compareTo))
                .toList();
    }

    /** Returns the files of a folder that end in one of some suffixes, sorted. */
    static List<Path> files(Path folder, String... suffixes) {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(
                            file -> {
                                String name = file.getFileName().toString();
                                String lower = name.toLowerCase(Locale.ROOT);
                                return !name.startsWith(".")
                                        && Stream.of(suffixes).anyMatch(lower::endsWith);
                            })
                    .filter(Files::isRegularFile)
                    .sorted()
                    .toList();
        } catch (IOException | UncheckedIOException e) {
            throw unreadable(folder, e);
        }
    }

    private static SaccadeException unreadable(Path folder, Exception failure) {
        Throwable cause = failure instanceof UncheckedIOException ? failure.getCause() : failure;
        return cause instanceof AccessDeniedException denied
                ? SaccadeException.user(
                        "%s: may not be read; name a folder of photographs and labels alone",
                        denied.getFile())
                : SaccadeException.io(
                        failure, "%s: cannot be read: %s", folder, cause.getMessage());
    }

    private static boolean isHidden(Path path) {
        return path.getFileName().toString().startsWith(".");
    }
}

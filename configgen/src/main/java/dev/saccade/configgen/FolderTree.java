package dev.saccade.configgen;

import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Lists the visible folders and files of a data set. Follows links, but not in loops. */
final class FolderTree {

    private static final int DEPTH = 3;

    private FolderTree() {}

    /** Returns a folder and up to 3 levels of subfolders, outermost first, then by path. */
    static List<Path> folders(Path root) {
        return folders(root, DEPTH);
    }

    static List<Path> folders(Path root, int depth) {
        List<Path> folders = new ArrayList<>();
        addFolders(root, depth, Set.of(), folders);
        return folders.stream()
                .sorted(Comparator.comparingInt(Path::getNameCount).thenComparing(Path::compareTo))
                .toList();
    }

    private static void addFolders(
            Path folder, int depth, Set<Path> ancestors, List<Path> folders) {
        Set<Path> path = new HashSet<>(ancestors);
        try {
            if (path.add(folder.toRealPath())) {
                folders.add(folder);
                if (depth > 0) {
                    list(folder, Files::isDirectory)
                            .forEach(below -> addFolders(below, depth - 1, path, folders));
                }
            }
        } catch (IOException e) {
            throw unreadable(folder, e);
        }
    }

    /** Returns the files in a folder with one of the suffixes, sorted. */
    static List<Path> files(Path folder, String... suffixes) {
        return list(
                folder,
                file -> {
                    String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
                    return Stream.of(suffixes).anyMatch(name::endsWith)
                            && Files.isRegularFile(file);
                });
    }

    private static List<Path> list(Path folder, Predicate<Path> condition) {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(path -> !path.getFileName().toString().startsWith("."))
                    .filter(condition)
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
                        "%s: permission denied; choose a folder with images and labels only",
                        denied.getFile())
                : SaccadeException.io(
                        failure, "%s: cannot be read: %s", folder, cause.getMessage());
    }
}

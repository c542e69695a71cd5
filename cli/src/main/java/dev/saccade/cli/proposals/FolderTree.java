package dev.saccade.cli.proposals;

import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** The folders and files of a data set, as far down as layouts go; hidden ones are left out. */
final class FolderTree {

    private static final int DEPTH = 3;

    private FolderTree() {}

    /** Returns a folder and those below it, sorted, from the outermost on. */
    static List<Path> folders(Path root) {
        return folders(root, DEPTH);
    }

    static List<Path> folders(Path root, int depth) {
        try (Stream<Path> all = Files.find(root, depth, (path, facts) -> facts.isDirectory())) {
            return all.filter(path -> path.equals(root) || !isHidden(root.relativize(path)))
                    .sorted(
                            Comparator.comparingInt(Path::getNameCount)
                                    .thenComparing(Path::compareTo))
                    .toList();
        } catch (IOException | UncheckedIOException e) {
            throw unreadable(root, e);
        }
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
        for (Path part : path) {
            if (part.toString().startsWith(".")) {
                return true;
            }
        }
        return false;
    }
}

package dev.saccade.cli;

import dev.saccade.core.SaccadeException;
import dev.saccade.report.predictions.ImageInputs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Kind of file or folder, judged by names; no file is opened. */
enum PathKind {
    MISSING("no such file or folder"),
    CONFIG("is a config"),
    CHECKPOINT("is a checkpoint"),
    IMAGE("is an image"),
    JSON("is a JSON file"),
    OTHER_FILE("is a file"),
    RUN("is the folder of a run"),
    RUNS("is a folder of runs"),
    CHECKPOINTS("is a folder of checkpoints"),
    IMAGES("is a folder of images"),
    EMPTY_FOLDER("is an empty folder"),
    OTHER_FOLDER("is a folder");

    private final String words;

    PathKind(String words) {
        this.words = words;
    }

    static PathKind find(Path path) {
        if (Files.isDirectory(path)) {
            return ofFolder(path);
        }
        if (!Files.exists(path)) {
            return MISSING;
        }
        String name = path.toString().toLowerCase(Locale.ROOT);
        if (ImageInputs.isImage(path)) {
            return IMAGE;
        } else if (endsWith(name, ".yaml", ".yml")) {
            return CONFIG;
        } else if (endsWith(name, ".safetensors", ".pth", ".pt")) {
            return CHECKPOINT;
        }
        return endsWith(name, ".json") ? JSON : OTHER_FILE;
    }

    private static PathKind ofFolder(Path folder) {
        if (isRun(folder)) {
            return RUN;
        }
        List<Path> content = content(folder);
        if (content.isEmpty()) {
            return EMPTY_FOLDER;
        } else if (content.stream().anyMatch(PathKind::isRun)) {
            return RUNS;
        }
        Predicate<PathKind> holds =
                kind ->
                        content.stream()
                                .filter(Files::isRegularFile)
                                .anyMatch(file -> find(file) == kind);
        if (holds.test(CHECKPOINT)) {
            return CHECKPOINTS;
        }
        return holds.test(IMAGE) ? IMAGES : OTHER_FOLDER;
    }

    static Optional<Path> checkpointIn(Path path) {
        return find(path) == CHECKPOINTS
                ? content(path).stream().filter(file -> find(file) == CHECKPOINT).findFirst()
                : Optional.empty();
    }

    private static boolean isRun(Path folder) {
        return Files.isDirectory(folder.resolve("checkpoints"))
                || (Files.isRegularFile(folder.resolve("config.yaml"))
                        && Files.exists(folder.resolve("train.log")));
    }

    private static List<Path> content(Path folder) {
        try (Stream<Path> content = Files.list(folder)) {
            return content.sorted().toList();
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be listed: %s", folder, e.getMessage());
        }
    }

    private static boolean endsWith(String name, String... endings) {
        return Stream.of(endings).anyMatch(name::endsWith);
    }

    /** Throws an error with the {@code expected} input if a path is not of an accepted kind. */
    static void require(Path path, String expected, PathKind... accepted) {
        PathKind kind = find(path);
        if (!List.of(accepted).contains(kind)) {
            throw error(path, expected);
        }
    }

    static SaccadeException error(Path path, String expected) {
        return SaccadeException.user("%s: %s; expected %s", path, find(path).words, expected);
    }
}

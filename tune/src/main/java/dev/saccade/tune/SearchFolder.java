package dev.saccade.tune;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Folder of a search or a cross-validation, which belongs to one config and its settings. */
final class SearchFolder {

    private static final String IDENTITY = "settings.json";

    private SearchFolder() {}

    /**
     * Creates a folder, or opens one to continue.
     *
     * @param identity settings that must be the same when the work is continued, as JSON
     */
    static void open(Path folder, boolean resume, String identity) {
        Path file = folder.resolve(IDENTITY);
        try {
            if (resume && Files.exists(file)) {
                if (!Files.readString(file).equals(identity + "\n")) {
                    throw SaccadeException.user(
                                    "%s: was started with another config or other settings; repeat"
                                            + " them, or choose another folder",
                                    folder)
                            .withSettings("out");
                }
                return;
            }
            if (resume) {
                throw SaccadeException.user("%s: nothing to resume; start without resume", folder)
                        .withSettings("out");
            }
            requireEmpty(folder);
            Files.createDirectories(folder);
            AtomicFile.write(file, identity + "\n");
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be used: %s", folder, e.getMessage());
        }
    }

    private static void requireEmpty(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> content = Files.list(folder)) {
            if (content.findAny().isPresent()) {
                throw SaccadeException.user(
                                "%s: not empty; resume the work in it, or choose another folder",
                                folder)
                        .withSettings("resume", "out");
            }
        }
    }
}

package dev.saccade.tune;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.Dataset;
import dev.saccade.train.checkpoint.RunIdentity;
import dev.saccade.train.config.RunConfig;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Folder of a search or a cross-validation, which belongs to one config, its labels and settings.
 */
final class SearchFolder {

    private static final String IDENTITY = "settings.txt";

    private SearchFolder() {}

    /**
     * Creates a folder, or opens one to continue.
     *
     * @param train images of {@code data.train}; their labels must be the same when the work is
     *     continued, like the config and the settings
     */
    static JobFolder open(
            Path folder, boolean resume, RunConfig config, Dataset train, Record settings) {
        String labels = Text.format("labels of data.train: %s%n", RunIdentity.fingerprint(train));
        String yaml = config.toYaml();
        claim(folder, resume, TuneJson.text(settings) + "\n" + labels + yaml);
        JobFolder files = new JobFolder(folder);
        files.create();
        return files;
    }

    /** Deletes the files of the work; keeps the folder, which may be a link or a mount point. */
    static void clear(JobFolder folder) {
        try {
            folder.deleteContent();
            Files.delete(folder.path().resolve(IDENTITY));
        } catch (IOException e) {
            throw SaccadeException.io(
                    e, "%s: cannot be deleted: %s", folder.path(), e.getMessage());
        }
    }

    private static void claim(Path folder, boolean resume, String identity) {
        Path file = folder.resolve(IDENTITY);
        try {
            if (resume && Files.exists(file)) {
                requireEqual(folder, Files.readString(file), identity);
                return;
            }
            if (resume) {
                throw SaccadeException.user("%s: nothing to resume; start without resume", folder)
                        .withSettings("out");
            }
            requireEmpty(folder);
            Files.createDirectories(folder);
            AtomicFile.write(file, identity);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be used: %s", folder, e.getMessage());
        }
    }

    private static void requireEqual(Path folder, String before, String now) {
        if (before.equals(now)) {
            return;
        }
        List<String> old = before.lines().toList();
        List<String> current = now.lines().toList();
        int last = Math.max(old.size(), current.size()) - 1;
        int line = 0;
        while (line < last && line(old, line).equals(line(current, line))) {
            line++;
        }
        throw SaccadeException.user(
                        "%s: was started with another config, other settings or other labels; got"
                                + " %s, expected %s; repeat them, or choose another folder",
                        folder,
                        Printable.line(line(current, line)),
                        Printable.line(line(old, line)))
                .withSettings("out");
    }

    private static String line(List<String> lines, int index) {
        return index < lines.size() ? lines.get(index).strip().replaceFirst(",$", "") : "end";
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

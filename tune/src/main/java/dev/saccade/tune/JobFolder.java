package dev.saccade.tune;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;

import dev.saccade.core.SaccadeException;
import dev.saccade.train.checkpoint.RunFolder;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Files of jobs, shared by the processes that run them. */
public record JobFolder(Path path) {

    private static final List<String> FOLDERS = List.of("jobs", "results", "runs", "logs");

    /** Creates the subfolders. */
    void create() {
        try {
            for (String name : FOLDERS) {
                Files.createDirectories(path.resolve(name));
            }
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be created: %s", path, e.getMessage());
        }
    }

    /** Deletes the subfolders. */
    void deleteContent() {
        FOLDERS.forEach(name -> delete(path.resolve(name)));
    }

    Path job(String name) {
        return path.resolve("jobs").resolve(name + ".json");
    }

    /** Returns the file that the process of a job locks. */
    Path lock(String name) {
        return path.resolve("jobs").resolve(name + ".lock");
    }

    Path resultFile(String name) {
        return path.resolve("results").resolve(name + ".json");
    }

    /** Returns the result of a job; empty if it has not ended. */
    public Optional<JobResult> result(String name) {
        Path file = resultFile(name);
        return Files.exists(file)
                ? Optional.of(TuneJson.read(file, JobResult.class))
                : Optional.empty();
    }

    /** Returns the prefix of the files with the predictions of a job. */
    Path predictions(String name) {
        return path.resolve("results").resolve(name);
    }

    Path run(String name) {
        return path.resolve("runs").resolve(name);
    }

    /** Deletes the checkpoints of a run, if it exists; keeps its log and metrics. */
    void deleteCheckpoints(String name) {
        delete(new RunFolder(run(name)).checkpoints());
    }

    /** Deletes a folder, if it exists. */
    static void delete(Path folder) {
        if (!Files.exists(folder)) {
            return;
        }
        try {
            MoreFiles.deleteRecursively(folder, RecursiveDeleteOption.ALLOW_INSECURE);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be deleted: %s", folder, e.getMessage());
        }
    }

    Path log(String name) {
        return path.resolve("logs").resolve(name + ".log");
    }
}

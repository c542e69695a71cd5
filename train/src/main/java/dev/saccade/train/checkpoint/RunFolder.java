package dev.saccade.train.checkpoint;

import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** Files of a run. */
public record RunFolder(Path path) {

    /** Creates the folder of a new run. Rejects a folder that is not empty. */
    public static RunFolder create(Path path) {
        RunFolder folder = new RunFolder(path);
        folder.requireEmpty();
        try {
            Files.createDirectories(folder.checkpoints());
        } catch (IOException e) {
            throw SaccadeException.io(
                    e, "%s: cannot create the run folder: %s", path, e.getMessage());
        }
        return folder;
    }

    /** Rejects a non-empty folder, but allows the output of ranks, which is written first. */
    public void requireEmpty() {
        if (!Files.exists(path)) {
            return;
        }
        RunLock.requireUnlocked(this);
        try (Stream<Path> content = Files.list(path)) {
            if (content.anyMatch(file -> !file.equals(ranks()))) {
                throw SaccadeException.user(
                                "%s: not empty; resume the run in it, or choose another folder",
                                path)
                        .withSettings("resume", "out");
            }
        } catch (IOException e) {
            throw SaccadeException.io(
                    e, "%s: cannot be used as a run folder: %s", path, e.getMessage());
        }
    }

    /** Rejects a folder without a config. */
    public void requireRun() {
        if (!Files.isRegularFile(config())) {
            throw SaccadeException.user(
                    "%s: is not a run folder; %s is missing", path, config().getFileName());
        }
    }

    /** Returns the lock file that prevents a second training run. */
    public Path lock() {
        return path.resolve(".lock");
    }

    /** Returns the config file, which includes all defaults. */
    public Path config() {
        return path.resolve("config.yaml");
    }

    public Path log() {
        return path.resolve("train.log");
    }

    public Path metrics() {
        return path.resolve("metrics.jsonl");
    }

    /** Returns the log directory for TensorBoard. */
    public Path tensorBoard() {
        return path.resolve("tensorboard");
    }

    /** Returns the folder for the output of ranks without a terminal. */
    public Path ranks() {
        return path.resolve("ranks");
    }

    /**
     * Prepares to restart a failed run; returns whether it has a state to resume from. If it has
     * none, moves its files to a folder below {@link #ranks}.
     */
    public boolean prepareRestart() {
        if (!isSaved() && Files.exists(path)) {
            clearUnsaved();
        }
        return isSaved();
    }

    public Path checkpoints() {
        return path.resolve("checkpoints");
    }

    /** Returns the file with the newest state to resume from; it may be missing. */
    public Path last() {
        return checkpoints().resolve("last.safetensors");
    }

    /** Returns the file with the state before {@link #last}, used if the newest is damaged. */
    public Path previous() {
        return checkpoints().resolve("previous.safetensors");
    }

    /** Returns the file for the weights with the best evaluation; it may be missing. */
    public Path bestWeights() {
        return checkpoints().resolve("best.safetensors");
    }

    public Optional<Path> findBest() {
        return Stream.of(bestWeights(), last()).filter(Files::isRegularFile).findFirst();
    }

    /**
     * Returns the checkpoint with the best evaluation, else the last one. Fails if neither exists.
     */
    public Path best() {
        Optional<Path> found = findBest();
        if (found.isEmpty()) {
            throw SaccadeException.user(
                    "%s: the run has no checkpoint yet; resume the training", path);
        }
        return found.get();
    }

    /** Returns whether there is a state to resume from. */
    public boolean isSaved() {
        return Files.exists(last()) || Files.exists(previous());
    }

    private void clearUnsaved() {
        try (Stream<Path> content = Files.list(path)) {
            int number = 1;
            while (Files.exists(ranks().resolve("unsaved_" + number))) {
                number++;
            }
            Path aside = ranks().resolve("unsaved_" + number);
            for (Path file : content.filter(each -> !each.equals(ranks())).toList()) {
                Files.createDirectories(aside);
                Files.move(file, aside.resolve(file.getFileName()));
            }
        } catch (IOException e) {
            throw SaccadeException.io(
                    e, "%s: cannot move the files of the failed run: %s", path, e.getMessage());
        }
    }

    /** Returns the file for permanent weights of an epoch, counted from 1. */
    public Path epoch(int epoch) {
        return checkpoints().resolve("epoch_" + epoch + ".safetensors");
    }

    /** Returns the file for permanent weights within an epoch. */
    public Path iteration(long iteration) {
        return checkpoints().resolve("iteration_" + iteration + ".safetensors");
    }
}

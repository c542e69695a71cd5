package dev.saccade.train.checkpoint;

import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Where a run keeps its files.
 *
 * @param path the folder of the run
 */
public record RunFolder(Path path) {

    /**
     * Makes the folder of a new run.
     *
     * @throws SaccadeException of kind user, if there is something in it already
     */
    public static RunFolder create(Path path) {
        RunFolder folder = new RunFolder(path);
        folder.requireEmpty();
        try {
            Files.createDirectories(folder.checkpoints());
        } catch (IOException e) {
            throw SaccadeException.io(
                    e, "%s: cannot make the folder of the run: %s", path, e.getMessage());
        }
        return folder;
    }

    /**
     * Refuses a folder for a new run.
     *
     * @throws SaccadeException of kind user, if there is something in it already but what ranks
     *     have said that were to train there
     */
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
                    e, "%s: cannot be the folder of the run: %s", path, e.getMessage());
        }
    }

    /**
     * Refuses a folder that is none of a run.
     *
     * @throws SaccadeException of kind user, if it has no config
     */
    public void requireRun() {
        if (!Files.isRegularFile(config())) {
            throw SaccadeException.user("%s: no run, it has no %s", path, config().getFileName());
        }
    }

    /** Returns the file that keeps a second training out. */
    public Path lock() {
        return path.resolve(".lock");
    }

    /** Returns the config with every default written out. */
    public Path config() {
        return path.resolve("config.yaml");
    }

    /** Returns the log for people. */
    public Path log() {
        return path.resolve("train.log");
    }

    /** Returns the log for programs. */
    public Path metrics() {
        return path.resolve("metrics.jsonl");
    }

    /** Returns the folder to point TensorBoard at. */
    public Path tensorBoard() {
        return path.resolve("tensorboard");
    }

    /** Returns the folder of what ranks say that have no terminal. */
    public Path ranks() {
        return path.resolve("ranks");
    }

    /**
     * Prepares to restart a failed run. If it was never saved, its files are moved to a folder
     * below {@link #ranks}.
     *
     * @return whether there is a state to resume from
     */
    public boolean prepareRestart() {
        if (!isSaved() && Files.exists(path)) {
            clearUnsaved();
        }
        return isSaved();
    }

    /** Returns the folder of the checkpoints. */
    public Path checkpoints() {
        return path.resolve("checkpoints");
    }

    /** Returns the newest state, which a run resumes from. */
    public Path last() {
        return checkpoints().resolve("last.safetensors");
    }

    /** Returns the state before {@link #last}, for when that is damaged. */
    public Path previous() {
        return checkpoints().resolve("previous.safetensors");
    }

    /** Returns the file for the weights with the best evaluation; it may be missing. */
    public Path bestWeights() {
        return checkpoints().resolve("best.safetensors");
    }

    /** Returns the checkpoint with the best evaluation, or the last if none was the best. */
    public Optional<Path> findBest() {
        return Stream.of(bestWeights(), last()).filter(Files::isRegularFile).findFirst();
    }

    /**
     * Returns the checkpoint with the best evaluation, or the last if none was the best, as in runs
     * without {@code data.val}.
     *
     * @throws SaccadeException of kind user, if the run has no checkpoint
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
                    e, "%s: cannot be made free for another start: %s", path, e.getMessage());
        }
    }

    /** Returns weights that stay, of the end of an epoch counted from 1. */
    public Path epoch(int epoch) {
        return checkpoints().resolve("epoch_" + epoch + ".safetensors");
    }

    /** Returns weights that stay, of a point within an epoch. */
    public Path iteration(long iteration) {
        return checkpoints().resolve("iteration_" + iteration + ".safetensors");
    }
}

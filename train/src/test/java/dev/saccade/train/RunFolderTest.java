package dev.saccade.train;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.train.checkpoint.RunFolder;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

class RunFolderTest {

    @TempDir private Path path;
    private RunFolder folder;

    @BeforeEach
    void make() {
        folder = new RunFolder(path.resolve("run"));
    }

    @Test
    void acceptsAFolderWithRankOutput() throws IOException {
        folder.requireEmpty();
        Files.createDirectories(folder.ranks().resolve("unsaved_1"));
        folder.requireEmpty();
        Files.createFile(folder.log());
        SaccadeException told = assertThrows(SaccadeException.class, folder::requireEmpty);
        assertTrue(told.getMessage().contains("not empty"), told.getMessage());
    }

    @Test
    void bestIsTheLastCheckpointIfNoneWasTheBest() throws IOException {
        SaccadeException none = assertThrows(SaccadeException.class, folder::best);
        assertEquals(SaccadeException.Kind.USER, none.kind());
        assertTrue(none.getMessage().contains("no checkpoint"), none.getMessage());

        Files.createDirectories(folder.checkpoints());
        Files.createFile(folder.last());
        assertEquals(folder.last(), folder.best());

        Files.createFile(folder.bestWeights());
        assertEquals(folder.bestWeights(), folder.best());
    }

    @Test
    void movesAnUnsavedRunBeforeARestart() throws IOException {
        folder.prepareRestart();
        for (int start = 1; start <= 2; start++) {
            RunFolder.create(folder.path());
            Files.createDirectories(folder.ranks());
            Files.writeString(folder.config(), "start: " + start);
            Files.createFile(folder.bestWeights());
            assertFalse(folder.isSaved(), "weights alone cannot be resumed from");
            folder.prepareRestart();
            folder.requireEmpty();
            Path left = folder.ranks().resolve("unsaved_" + start);
            assertEquals("start: " + start, Files.readString(left.resolve("config.yaml")));
            assertTrue(Files.exists(left.resolve("checkpoints/best.safetensors")));
        }
        folder.prepareRestart();
        assertFalse(Files.exists(folder.ranks().resolve("unsaved_3")), "there was nothing");
        for (Path state : new Path[] {folder.previous(), folder.last()}) {
            Files.createDirectories(folder.checkpoints());
            Files.createFile(state);
            assertTrue(folder.isSaved());
            Files.delete(state);
        }
    }

    @Test
    void rejectsAFolderWithoutAConfig() throws IOException {
        SaccadeException told = assertThrows(SaccadeException.class, folder::requireRun);
        assertEquals(
                folder.path() + ": is not a run folder; config.yaml is missing", told.getMessage());
        RunFolder.create(folder.path());
        Files.createFile(folder.config());
        folder.requireRun();
    }
}

package dev.saccade.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.saccade.testsupport.TinyModel;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

class LocalRunTest {

    @TempDir Path folder;

    @Test
    void listsRunsWithCheckpoints() throws IOException {
        Path good = checkpoint("b");
        TinyModel.SEMANTIC_FPN.save(good, List.of("sky", "road"));
        Path damaged = checkpoint("a");
        Files.writeString(damaged, "damaged");
        Files.createDirectories(folder.resolve("without_checkpoint"));
        assertEquals(
                List.of(
                        new LocalRun(folder.resolve("a"), damaged, "unreadable"),
                        new LocalRun(folder.resolve("b"), good, "resnet, semantic_fpn")),
                LocalRun.all(folder));
        assertEquals(List.of(), LocalRun.all(folder.resolve("missing")));
    }

    private Path checkpoint(String run) throws IOException {
        Path file = folder.resolve(run).resolve("checkpoints").resolve("best.safetensors");
        Files.createDirectories(file.getParent());
        return file;
    }
}

package dev.saccade.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.types.Shape;

import dev.saccade.checkpoint.pytorch.TorchFile;
import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

class CheckpointsTest {

    @TempDir Path folder;

    @Test
    void detectsTheFormatByContent() throws IOException {
        Checkpoint checkpoint =
                new Checkpoint(Map.of("a", Tensor.of(new Shape(2), 1, 2)), Map.of("epoch", "1"));
        Path file = folder.resolve("a.bin");

        SafeTensors.write(file, checkpoint);
        assertEquals(checkpoint, Checkpoints.open(file));
        TorchFile.write(file, checkpoint);
        assertEquals(checkpoint, Checkpoints.open(file));
        Files.write(file, TestFiles.bytes("training_legacy.pth"));
        assertEquals(2, Checkpoints.open(file).tensors().size());
    }

    @Test
    void extensionSelectsTheWrittenFormat() throws IOException {
        Checkpoint checkpoint =
                new Checkpoint(Map.of("a", Tensor.of(new Shape(2), 1, 2)), Map.of());

        Checkpoints.save(folder.resolve("a.safetensors"), checkpoint);
        Checkpoints.save(folder.resolve("a.PTH"), checkpoint);

        assertEquals('{', Files.readAllBytes(folder.resolve("a.safetensors"))[8]);
        assertEquals('P', Files.readAllBytes(folder.resolve("a.PTH"))[0]);
        assertThrows(
                SaccadeException.class,
                () -> Checkpoints.save(folder.resolve("a.bin"), checkpoint));
    }

    @Test
    void rejectsTemporaryFiles() {
        Path file = folder.resolve(".a.safetensors.0b0c96f1-9ed2-4a2d-a5a1-000000000000.tmp");
        String message =
                assertThrows(SaccadeException.class, () -> Checkpoints.open(file)).getMessage();
        assertTrue(message.contains("is a temporary file of a killed process"), message);
    }

    @Test
    void describesOtherFilesInOneLine() throws IOException {
        assertRefused("", "empty");
        assertRefused("\n<!DOCTYPE html><html>Sign in", "a web page");
        assertRefused("version https://git-lfs.github.com/spec/v1\noid", "Git LFS");
        assertRefused("sys_info" + "\0".repeat(249) + "ustar\0", "PyTorch before 0.1.10");
        assertRefused("hello", "safetensors or PyTorch file");
        assertRefused("PK\3\4 and then nothing", "truncated zip");
        assertRefused("\u0080\2cos\nsys\33[31m\rtem\n)R.", "would execute os.sys\\u001b[31m\\rtem");
        assertRefused("\u0080\2}X\1\0\0\0aK\1s.", "contains no tensors; its keys are [a]");
        assertRefused("\u0080\2]q\0(K\1e.", "no dict of tensors");
    }

    @Test
    void reportsMissingFilesAndFolders() {
        assertTrue(failure(folder.resolve("no.pth")).contains("no such file"));
        assertTrue(failure(folder).contains("is a folder"));
    }

    private void assertRefused(String content, String expected) throws IOException {
        Path file =
                Files.write(
                        folder.resolve("file.pth"), content.getBytes(StandardCharsets.ISO_8859_1));
        String message = failure(file);
        assertTrue(message.startsWith(file + ": "), message);
        assertTrue(message.contains(expected), message);
        assertEquals(1, message.lines().count(), message);
    }

    private static String failure(Path file) {
        return assertThrows(SaccadeException.class, () -> Checkpoints.open(file)).getMessage();
    }
}

package dev.saccade.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.types.Shape;

import dev.saccade.checkpoint.pytorch.TorchFile;
import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

/** Files that other processes change during reading: correct weights or an error, never a crash. */
class CheckpointFileTest {

    private static final int ELEMENTS = 200_000;

    @TempDir Path folder;

    /** Writer of the file. */
    enum Format {
        SAFETENSORS {
            @Override
            byte[] write(Path file, Checkpoint checkpoint) throws IOException {
                SafeTensors.write(file, checkpoint);
                return Files.readAllBytes(file);
            }
        },
        SAFETENSORS_WITHOUT_CHECKSUM {
            @Override
            byte[] write(Path file, Checkpoint checkpoint) throws IOException {
                byte[] bytes = SAFETENSORS.write(file, checkpoint);
                String text = new String(bytes, StandardCharsets.ISO_8859_1);
                return text.replace(SafeTensors.CHECKSUM, "another.text..")
                        .getBytes(StandardCharsets.ISO_8859_1);
            }
        },
        ZIP {
            @Override
            byte[] write(Path file, Checkpoint checkpoint) throws IOException {
                TorchFile.write(file, checkpoint);
                return Files.readAllBytes(file);
            }
        },
        LEGACY {
            @Override
            byte[] write(Path file, Checkpoint checkpoint) {
                byte[] bytes = TestFiles.bytes("kinds_legacy.pth");
                // The last storage is at the end of the file.
                bytes[bytes.length - 1] ^= checkpoint.tensors().get("a").data().get(3);
                return bytes;
            }
        };

        /** Writes a checkpoint and returns its content. */
        abstract byte[] write(Path file, Checkpoint checkpoint) throws IOException;
    }

    private byte[] bytes(Format format, float value) throws IOException {
        float[] values = new float[ELEMENTS];
        Arrays.fill(values, value);
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        for (String name : new String[] {"a", "b", "c"}) {
            tensors.put(name, Tensor.of(new Shape(ELEMENTS), values));
        }
        return format.write(folder.resolve("written"), new Checkpoint(tensors, Map.of()));
    }

    private static void overwrite(Path file, byte[] bytes) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            AtomicFile.writeFully(channel, ByteBuffer.wrap(bytes));
        }
    }

    private static void truncate(Path file, long length) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(length);
        }
    }

    private static void assertChanged(Path file, Checkpoint checkpoint) {
        SaccadeException e =
                assertThrows(
                        SaccadeException.class,
                        () -> checkpoint.tensors().values().forEach(Tensor::floats));
        assertEquals(SaccadeException.Kind.IO, e.kind());
        assertTrue(e.getMessage().startsWith(file + ": changed while it was read"), e.getMessage());
    }

    @ParameterizedTest
    @EnumSource
    void overwritingBeforeUseIsAnError(Format format) throws IOException {
        byte[] old = bytes(format, 1);
        Path file = Files.write(folder.resolve("file"), old);
        Checkpoint checkpoint = Checkpoints.open(file);

        overwrite(file, bytes(format, 2));

        assertChanged(file, checkpoint);
        overwrite(file, old);
        checkpoint.tensors().values().forEach(Tensor::floats);
    }

    @ParameterizedTest
    @EnumSource
    void truncationBeforeUseIsAnError(Format format) throws IOException {
        Path file = Files.write(folder.resolve("file"), bytes(format, 1));
        Checkpoint checkpoint = Checkpoints.open(file);

        truncate(file, 0);

        assertChanged(file, checkpoint);
    }

    @ParameterizedTest
    @EnumSource
    void renamingAnotherFileToItsNameIsNoChange(Format format) throws IOException {
        Path file = Files.write(folder.resolve("file"), bytes(format, 1));
        Checkpoint before = copy(Checkpoints.open(file));
        Checkpoint checkpoint = Checkpoints.open(file);

        Path other = Files.write(folder.resolve("other"), bytes(format, 2));
        Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);

        assertEquals(before, checkpoint);
    }

    /** Another process repeatedly copies one of two files over it, like {@code cp}. */
    @ParameterizedTest
    @EnumSource
    void copyingDuringReadGivesEitherFileOrAnError(Format format) throws Exception {
        byte[][] contents = {bytes(format, 1), bytes(format, 2)};
        Path file = folder.resolve("file");
        Map<Integer, Checkpoint> expected = new LinkedHashMap<>();
        for (int i = 0; i < contents.length; i++) {
            Files.write(file, contents[i]);
            expected.put(i, copy(Checkpoints.open(file)));
        }
        AtomicBoolean isDone = new AtomicBoolean();
        ExecutorService other = Executors.newSingleThreadExecutor();
        try {
            Callable<Void> copying =
                    () -> {
                        SplittableRandom random = new SplittableRandom(1);
                        while (!isDone.get()) {
                            byte[] content = contents[random.nextInt(2)];
                            truncate(file, random.nextInt(content.length));
                            truncate(file, 0);
                            overwrite(file, content);
                            Thread.sleep(0, random.nextInt(1_000_000));
                        }
                        return null;
                    };
            Future<Void> copies = other.submit(copying);
            for (int i = 0; i < 300; i++) {
                try {
                    Checkpoint read = copy(Checkpoints.open(file));
                    assertTrue(expected.containsValue(read), "neither the one nor the other");
                } catch (SaccadeException e) {
                    assertTrue(e.getMessage().startsWith(file.toString()), e.getMessage());
                }
            }
            isDone.set(true);
            copies.get();
        } finally {
            other.shutdownNow();
        }
    }

    private static Checkpoint copy(Checkpoint checkpoint) {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        checkpoint
                .tensors()
                .forEach(
                        (name, tensor) ->
                                tensors.put(
                                        name,
                                        new Tensor(tensor.type(), tensor.shape(), tensor.data())));
        return new Checkpoint(tensors, checkpoint.metadata());
    }
}

package dev.saccade.checkpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.types.Shape;

import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

class SafeTensorsTest {

    private static final String A =
            "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}";

    @TempDir Path folder;

    @Test
    void roundTripsInOrder() {
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        tensors.put("flag", new Tensor(ElementType.BOOLEAN, new Shape(1), ByteBuffer.allocate(1)));
        tensors.put("b", Tensor.of(new Shape(1, 2), 1.5f, Float.NaN));
        tensors.put("none", Tensor.of(new Shape(0)));
        tensors.put("scalar", Tensor.of(new Shape(), 7));
        Checkpoint checkpoint = new Checkpoint(tensors, Map.of("classes", "[\"\u00e9\\\"\"]"));
        Path file = folder.resolve("a.safetensors");

        SafeTensors.write(file, checkpoint);

        Checkpoint read = SafeTensors.read(file);
        assertEquals(checkpoint, read);
        assertEquals(List.copyOf(tensors.keySet()), List.copyOf(read.tensors().keySet()));
    }

    @Test
    void tensorsAreAlignedToTheirElements() throws IOException {
        byte[] doubles = "8 bytes!".getBytes(StandardCharsets.US_ASCII);
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        tensors.put("a", new Tensor(ElementType.UINT8, new Shape(3), ByteBuffer.allocate(3)));
        tensors.put("b", new Tensor(ElementType.FLOAT64, new Shape(1), ByteBuffer.wrap(doubles)));
        Path file = folder.resolve("a.safetensors");

        SafeTensors.write(file, new Checkpoint(tensors, Map.of()));

        String text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        assertEquals(0, text.indexOf("8 bytes!") % 8);
    }

    @Test
    void readsFilesWithoutChecksum() throws IOException {
        Tensor tensor = SafeTensors.read(file("{" + A + "}   ", 8)).tensors().get("a");

        assertEquals(new Shape(2), tensor.shape());
        assertArrayEquals(new float[] {0, 0}, TestFiles.values(tensor));
    }

    @Test
    void detectsEveryFlippedBit() throws IOException {
        Path file = folder.resolve("a.safetensors");
        SafeTensors.write(
                file, new Checkpoint(Map.of("w", Tensor.of(new Shape(2), 1, 2)), Map.of("k", "v")));
        byte[] good = Files.readAllBytes(file);
        Checkpoint original = SafeTensors.read(file);

        int noticed = 0;
        for (int bit = 0; bit < good.length * 8; bit++) {
            byte[] bad = good.clone();
            bad[bit / 8] ^= (byte) (1 << bit % 8);
            Files.write(file, bad);
            try {
                // A flipped bit in the name of the checksum turns it into other metadata.
                Checkpoint read = SafeTensors.read(file);
                assertEquals(original.tensors(), read.tensors());
                assertTrue(read.metadata().size() > original.metadata().size());
            } catch (SaccadeException e) {
                noticed++;
            }
        }
        assertTrue(noticed > good.length * 8 - 13 * 8, "noticed " + noticed);
    }

    @Test
    void detectsEveryTruncation() throws IOException {
        Path file = folder.resolve("a.safetensors");
        SafeTensors.write(
                file, new Checkpoint(Map.of("w", Tensor.of(new Shape(2), 1, 2)), Map.of()));
        byte[] good = Files.readAllBytes(file);

        for (int length = 0; length < good.length; length++) {
            Files.write(file, Arrays.copyOf(good, length));
            assertThrows(SaccadeException.class, () -> SafeTensors.read(file));
        }
    }

    @Test
    void rejectsWhatTheReferenceRejects() throws IOException {
        assertRefused("{" + A + "," + A + "}", 8, "Duplicate");
        assertRefused("{" + A + "}", 9, "9 bytes of tensors, expected 8");
        assertRefused("{" + A + "}", 7, "truncated");
        assertRefused("{" + A.replace("F32", "F99") + "}", 8, "dtype F99");
        assertRefused("{" + A.replace("[0,8]", "[0,4]") + "}", 4, "has bytes 0 to 4");
        assertRefused("{" + A.replace("[0,8]", "[8,0]") + "}", 8, "has bytes 8 to 0");
        assertRefused("{" + A.replace("[0,8]", "[4,12]") + "}", 12, "begins at 4, expected 0");
        assertRefused("{" + A.replace("[2]", "[-2]") + "}", 8, "invalid a.shape");
        assertRefused("{" + A.replace("[2]", "[2.0]") + "}", 8, "a.shape");
        assertRefused(
                "{" + A.replace("[2]", "[4611686018427387906]") + "}", 8, "truncated or damaged");
        assertRefused("{" + A.replace("[2]", "[99999999999999999999]") + "}", 8, "header");
        assertRefused("{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8, "lacks");
        assertRefused("{\"a\":5}", 0, "a is not START_OBJECT");
        assertRefused("{\"__metadata__\":{\"k\":1}}", 0, "__metadata__.k");
        assertRefused("{\"__metadata__\":{\"k\":\"\\ud800\"}}", 0, "invalid UTF-8");
        assertRefused("{" + A.replace("\"a\"", "\"\\udc00\"") + "}", 8, "invalid UTF-8");
        assertRefused("{" + A + "} x", 8, "header");
        assertRefused("[]", 0, "not a JSON object");
        assertRefused("{" + A, 8, "header is not valid JSON");
        assertRefused("{\0\0\0\1\1\1\1", 8, "header is not valid JSON");
        assertRefused("{\0\"\0", 8, "header is not valid JSON");
        assertRefused(
                "{" + A + "," + A.replace("\"a\"", "\"b\"") + "}", 16, "begins at 0, expected 8");
    }

    @Test
    void hugeHeaderLengthAllocatesNoMemory() throws IOException {
        for (long length : new long[] {0, 1, -1, 99_999_999, 1L << 40, Long.MAX_VALUE}) {
            ByteBuffer bytes = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
            bytes.putLong(length).put((byte) '{');
            Path file = Files.write(folder.resolve("a.safetensors"), bytes.array());

            assertThrows(SaccadeException.class, () -> SafeTensors.read(file));
        }
    }

    @Test
    void readsFilesAboveTwoGigabytes() throws IOException {
        long gigabyte = 1L << 30;
        StringBuilder header = new StringBuilder("{");
        for (int i = 0; i < 3; i++) {
            header.append(i == 0 ? "" : ",")
                    .append("\"t" + i + "\":{\"dtype\":\"F32\",\"shape\":[" + gigabyte / 4)
                    .append(
                            "],\"data_offsets\":["
                                    + i * gigabyte
                                    + ","
                                    + (i + 1) * gigabyte
                                    + "]}");
        }
        Path file = file(header + "}", 0);
        long start = Files.size(file);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            ByteBuffer one = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putFloat(42);
            channel.write(one.flip(), start + 3 * gigabyte - 4);
        }

        Tensor last = SafeTensors.read(file).tensors().get("t2");

        assertEquals(42, last.floats().get((int) (gigabyte / 4 - 1)));
        Files.delete(file);
    }

    private void assertRefused(String header, int dataBytes, String expected) throws IOException {
        Path file = file(header, dataBytes);
        SaccadeException e =
                assertThrows(SaccadeException.class, () -> SafeTensors.read(file), header);
        assertTrue(e.getMessage().contains(expected), e.getMessage());
        assertTrue(e.getMessage().startsWith(file.toString()), e.getMessage());
    }

    private Path file(String header, int dataBytes) throws IOException {
        byte[] json = header.getBytes(StandardCharsets.UTF_8);
        ByteBuffer bytes =
                ByteBuffer.allocate(8 + json.length + dataBytes).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(json.length).put(json);
        return Files.write(folder.resolve("a.safetensors"), bytes.array());
    }
}

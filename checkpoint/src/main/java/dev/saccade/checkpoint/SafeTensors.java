package dev.saccade.checkpoint;

import ai.djl.ndarray.types.Shape;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * The safetensors format: an 8-byte header length, a JSON header and the tensor bytes without gaps.
 * Saccade also stores a checksum of header and tensors, which is verified on reading.
 *
 * @see <a href="https://github.com/huggingface/safetensors">huggingface/safetensors</a>
 */
public final class SafeTensors {

    /** Maximum header size in bytes, as in the reference implementation. */
    static final int MAX_HEADER = 100_000_000;

    static final String METADATA = "__metadata__";

    /** Metadata key of the checksum, which is computed with {@link #NO_CHECKSUM} in its place. */
    static final String CHECKSUM = "saccade.crc32c";

    private static final String NO_CHECKSUM = "00000000";

    private SafeTensors() {}

    /**
     * Opens a file; tensors are read on use.
     *
     * @throws SaccadeException of kind user, if the file has another format, is truncated or
     *     damaged; of kind I/O, if it cannot be read or changes meanwhile
     */
    public static Checkpoint read(Path file) {
        return CheckpointFile.read(file, SafeTensors::read);
    }

    static Checkpoint read(CheckpointFile file) {
        long length = file.header(0, Long.BYTES).getLong();
        if (length < 2 || length > MAX_HEADER) {
            throw new MalformedException(
                    "not a safetensors file: its header would have %s bytes", length);
        }
        byte[] json = file.header(Long.BYTES, length).array();
        SafeTensorsHeader header = SafeTensorsHeader.parse(json);
        long start = Long.BYTES + length;
        List<SafeTensorsHeader.Entry> inFile =
                header.entries().values().stream()
                        .sorted(
                                Comparator.comparingLong(SafeTensorsHeader.Entry::begin)
                                        .thenComparingLong(SafeTensorsHeader.Entry::end))
                        .toList();
        checkTiling(inFile, file.size() - start);
        String checksum = header.metadata().get(CHECKSUM);
        CRC32C crc = new CRC32C();
        crc.update(checksum == null ? json : withoutChecksum(json, checksum));
        Map<SafeTensorsHeader.Entry, Tensor> read = new HashMap<>();
        for (SafeTensorsHeader.Entry entry : inFile) {
            TensorBytes bytes = file.range(start + entry.begin(), entry.end() - entry.begin(), crc);
            read.put(entry, new Tensor(entry.type(), entry.shape(), bytes));
        }
        if (checksum != null) {
            verify(crc, checksum);
        }
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        header.entries().forEach((name, entry) -> tensors.put(name, read.get(entry)));
        Map<String, String> metadata = new LinkedHashMap<>(header.metadata());
        metadata.remove(CHECKSUM);
        return new Checkpoint(tensors, metadata);
    }

    /** Checks that the tensors fill the file without gaps or overlaps. */
    private static void checkTiling(List<SafeTensorsHeader.Entry> entries, long size) {
        long position = 0;
        for (SafeTensorsHeader.Entry entry : entries) {
            if (entry.begin() != position) {
                throw new MalformedException(
                        "damaged: a tensor begins at %s, expected %s", entry.begin(), position);
            }
            position = entry.end();
        }
        if (position != size) {
            throw new MalformedException(
                    "%sgot %s bytes of tensors, expected %s",
                    position > size ? "truncated: " : "damaged: ", size, position);
        }
    }

    private static void verify(CRC32C crc, String expected) {
        if (!hex(crc).equals(expected)) {
            throw new MalformedException(
                    "damaged: its checksum is %s, expected %s", hex(crc), expected);
        }
    }

    private static byte[] withoutChecksum(byte[] json, String checksum) {
        String text = new String(json, StandardCharsets.ISO_8859_1);
        String entry = "\"" + CHECKSUM + "\":\"";
        return text.replace(entry + checksum, entry + NO_CHECKSUM)
                .getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Writes a checkpoint atomically; after an error, the old file is unchanged. */
    public static void write(Path file, Checkpoint checkpoint) {
        write(file, Optional.empty(), checkpoint);
    }

    /**
     * Writes a checkpoint atomically and keeps the old file as {@code previous} in the same folder.
     * At every moment, one of the two names has a complete checkpoint.
     *
     * @throws SaccadeException of kind I/O; the old file still exists under one of the names
     */
    public static void write(Path file, Path previous, Checkpoint checkpoint) {
        write(file, Optional.of(previous), checkpoint);
    }

    private static void write(Path file, Optional<Path> previous, Checkpoint checkpoint) {
        // Large elements first, so that every tensor is aligned to its element size.
        List<Map.Entry<String, Tensor>> order =
                checkpoint.tensors().entrySet().stream()
                        .sorted(Comparator.comparingInt(entry -> -entry.getValue().type().bytes()))
                        .toList();
        Map<String, Long> begins = new LinkedHashMap<>();
        long position = 0;
        for (Map.Entry<String, Tensor> entry : order) {
            begins.put(entry.getKey(), position);
            position += entry.getValue().length();
        }
        CRC32C crc = new CRC32C();
        crc.update(header(checkpoint, begins, NO_CHECKSUM));
        order.forEach(entry -> crc.update(entry.getValue().data()));
        byte[] header = header(checkpoint, begins, hex(crc));
        if (header.length > MAX_HEADER) {
            throw SaccadeException.user(
                    "%s: names and metadata have more than 100 MB; store" + " less metadata", file);
        }
        ByteBuffer length =
                ByteBuffer.allocate(Long.BYTES)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putLong(header.length)
                        .flip();
        AtomicFile.write(
                file,
                previous,
                channel -> {
                    AtomicFile.writeFully(channel, length);
                    AtomicFile.writeFully(channel, ByteBuffer.wrap(header));
                    for (Map.Entry<String, Tensor> entry : order) {
                        AtomicFile.writeFully(channel, entry.getValue().data());
                    }
                });
    }

    private static byte[] header(Checkpoint checkpoint, Map<String, Long> begins, String checksum) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator json = new JsonFactory().createGenerator(bytes)) {
            json.writeStartObject();
            json.writeObjectFieldStart(METADATA);
            json.writeStringField(CHECKSUM, checksum);
            for (Map.Entry<String, String> entry : checkpoint.metadata().entrySet()) {
                json.writeStringField(entry.getKey(), entry.getValue());
            }
            json.writeEndObject();
            for (Map.Entry<String, Tensor> entry : checkpoint.tensors().entrySet()) {
                write(json, entry.getKey(), entry.getValue(), begins.get(entry.getKey()));
            }
            json.writeEndObject();
        } catch (IOException e) {
            throw SaccadeException.internal(e, "the safetensors header cannot be written");
        }
        while (bytes.size() % Long.BYTES != 0) {
            bytes.write(' ');
        }
        return bytes.toByteArray();
    }

    private static void write(JsonGenerator json, String name, Tensor tensor, long begin)
            throws IOException {
        json.writeObjectFieldStart(name);
        json.writeStringField("dtype", tensor.type().safeTensorsName());
        Shape shape = tensor.shape();
        json.writeFieldName("shape");
        json.writeArray(shape.getShape(), 0, shape.dimension());
        json.writeFieldName("data_offsets");
        json.writeArray(new long[] {begin, begin + tensor.length()}, 0, 2);
        json.writeEndObject();
    }

    private static String hex(CRC32C crc) {
        return Text.format("%08x", crc.getValue());
    }
}

package dev.saccade.checkpoint.pytorch;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Tensor;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Writes PyTorch's zip formats: a pickle, one uncompressed entry per tensor, and code for
 * TorchScript.
 */
final class TorchWriter {

    private static final String FOLDER = "archive/";

    /** Time of all entries; for the earliest zip time, Java would add an extra field. */
    private static final LocalDateTime NO_TIME = LocalDateTime.of(1980, 2, 1, 0, 0);

    /** Alignment of tensors, as in PyTorch, so that they can be memory-mapped. */
    private static final int ALIGNMENT = 64;

    private static final byte[] NO_CONSTANTS = {(byte) 0x80, 2, ')', '.'};

    private static final int LOCAL_HEADER = 30;
    private static final short PADDING_FIELD = 0x4246;
    private static final int CHUNK = 1 << 20;

    private final ZipOutputStream zip;
    private long position;

    private TorchWriter(FileChannel channel) {
        zip =
                new ZipOutputStream(
                        new BufferedOutputStream(Channels.newOutputStream(channel), CHUNK));
        zip.setMethod(ZipOutputStream.STORED);
    }

    static void write(FileChannel channel, Checkpoint checkpoint) throws IOException {
        TorchWriter writer = new TorchWriter(channel);
        writer.entry("data.pkl", ByteBuffer.wrap(pickle(checkpoint)));
        writer.entry("byteorder", ascii("little"));
        writer.tensors(checkpoint.tensors().values());
        writer.end("3\n");
    }

    /** Writes a TorchScript module of class {@code M} with tensor attributes and extra files. */
    static void write(
            FileChannel channel,
            String code,
            Map<String, Tensor> attributes,
            Map<String, String> extraFiles)
            throws IOException {
        TorchWriter writer = new TorchWriter(channel);
        writer.entry("data.pkl", ByteBuffer.wrap(pickle(attributes)));
        writer.entry("code/__torch__.py", StandardCharsets.UTF_8.encode(code));
        writer.entry("constants.pkl", ByteBuffer.wrap(NO_CONSTANTS));
        writer.entry("byteorder", ascii("little"));
        writer.tensors(attributes.values());
        for (Map.Entry<String, String> extra : new TreeMap<>(extraFiles).entrySet()) {
            writer.entry(
                    "extra/" + extra.getKey(), StandardCharsets.UTF_8.encode(extra.getValue()));
        }
        writer.end("10\n");
    }

    private void tensors(Collection<Tensor> tensors) throws IOException {
        int key = 0;
        for (Tensor tensor : tensors) {
            entry("data/" + key++, tensor.data());
        }
    }

    private void end(String version) throws IOException {
        entry("version", ascii(version));
        zip.finish();
        zip.flush();
    }

    private static ByteBuffer ascii(String text) {
        return StandardCharsets.US_ASCII.encode(text);
    }

    private void entry(String name, ByteBuffer content) throws IOException {
        ZipEntry entry = new ZipEntry(FOLDER + name);
        CRC32 crc = new CRC32();
        crc.update(content.duplicate());
        entry.setCrc(crc.getValue());
        entry.setSize(content.remaining());
        entry.setTimeLocal(NO_TIME);
        byte[] padding = padding(position + LOCAL_HEADER + entry.getName().length());
        entry.setExtra(padding);
        position += LOCAL_HEADER + entry.getName().length() + padding.length + content.remaining();
        zip.putNextEntry(entry);
        byte[] chunk = new byte[Math.min(content.remaining(), CHUNK)];
        while (content.hasRemaining()) {
            int length = Math.min(chunk.length, content.remaining());
            content.get(chunk, 0, length);
            zip.write(chunk, 0, length);
        }
        zip.closeEntry();
    }

    /** Returns an extra field that aligns the following data. */
    private static byte[] padding(long position) {
        int length = Math.floorMod(-(position + 4), ALIGNMENT);
        return ByteBuffer.allocate(4 + length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putShort(PADDING_FIELD)
                .putShort((short) length)
                .array();
    }

    /** Returns the pickle of {@code {"meta": {...}, "state_dict": OrderedDict(...)}}. */
    private static byte[] pickle(Checkpoint checkpoint) {
        PickleWriter out = new PickleWriter();
        out.code(0x80).code(2).code('}').code('(');
        out.text("meta").code('}').code('(');
        checkpoint.metadata().forEach((key, value) -> out.text(key).text(value));
        out.code('u');
        out.text("state_dict").global("collections", "OrderedDict").code(')').code('R').code('(');
        int key = 0;
        for (Map.Entry<String, Tensor> entry : checkpoint.tensors().entrySet()) {
            out.text(entry.getKey()).tensor(key++, entry.getValue());
        }
        return out.code('u').code('u').code('.').bytes();
    }

    /** Returns the pickle of an object of class {@code __torch__.M} with these attributes. */
    private static byte[] pickle(Map<String, Tensor> attributes) {
        PickleWriter out = new PickleWriter();
        out.code(0x80).code(2).global("__torch__", "M").code(')').code(0x81);
        out.code('}').code('(').text("training").code(0x89);
        int key = 0;
        for (Map.Entry<String, Tensor> entry : attributes.entrySet()) {
            out.text(entry.getKey()).tensor(key++, entry.getValue());
        }
        return out.code('u').code('b').code('.').bytes();
    }

    /** Writes the few pickle operations that checkpoints need. */
    private static final class PickleWriter {

        private final ByteArrayOutputStream out = new ByteArrayOutputStream();

        byte[] bytes() {
            return out.toByteArray();
        }

        PickleWriter code(int code) {
            out.write(code);
            return this;
        }

        PickleWriter text(String text) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            code('X');
            littleEndian(bytes.length, Integer.BYTES);
            out.writeBytes(bytes);
            return this;
        }

        PickleWriter global(String module, String name) {
            code('c');
            out.writeBytes((module + "\n" + name + "\n").getBytes(StandardCharsets.UTF_8));
            return this;
        }

        private void integer(long value) {
            if (value == (int) value) {
                code('J');
                littleEndian(value, Integer.BYTES);
            } else {
                code(0x8a).code(Long.BYTES);
                littleEndian(value, Long.BYTES);
            }
        }

        private void littleEndian(long value, int bytes) {
            for (int i = 0; i < bytes; i++) {
                out.write((int) (value >> (Byte.SIZE * i)));
            }
        }

        /** Writes {@code _rebuild_tensor_v2(storage, 0, sizes, strides, False, OrderedDict())}. */
        void tensor(int key, Tensor tensor) {
            global("torch._utils", "_rebuild_tensor_v2").code('(');
            code('(').text("storage").global("torch", tensor.type().torchName() + "Storage");
            text(Integer.toString(key)).text("cpu");
            integer(tensor.elements());
            code('t').code('Q');
            integer(0);
            long[] sizes = tensor.shape().getShape();
            code('(');
            for (long size : sizes) {
                integer(size);
            }
            code('t').code('(');
            long stride = tensor.elements();
            for (long size : sizes) {
                stride = size == 0 ? 0 : stride / size;
                integer(stride);
            }
            code('t').code(0x89);
            global("collections", "OrderedDict").code(')').code('R').code('t').code('R');
        }
    }
}

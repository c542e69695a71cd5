package dev.saccade.checkpoint.pytorch;

import dev.saccade.checkpoint.CheckpointFile;
import dev.saccade.checkpoint.MalformedException;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Directory of a zip or zip64 file with uncompressed entries, as written by PyTorch. Unlike {@link
 * java.util.zip.ZipFile}, it returns offsets instead of streams.
 */
final class StoredZip {

    /** A zip entry; {@code isStored} if its content is neither compressed nor encrypted. */
    record Entry(String name, long offset, long size, boolean isStored) {

        /** Returns the offset of the content; throws if compressed, encrypted or too short. */
        long begin(long length) {
            if (!isStored) {
                throw new MalformedException(
                        "zip entry %s is compressed or encrypted; PyTorch writes uncompressed"
                                + " entries",
                        name);
            }
            if (length > size) {
                throw new MalformedException("damaged zip: entry %s is too short", name);
            }
            return offset;
        }
    }

    private static final int END_SIGNATURE = 0x06054b50;
    private static final int END_SIZE = 22;
    private static final int END64_LOCATOR_SIGNATURE = 0x07064b50;
    private static final int END64_LOCATOR_SIZE = 20;
    private static final int END64_SIGNATURE = 0x06064b50;
    private static final int END64_SIZE = 56;
    private static final int DIRECTORY_SIGNATURE = 0x02014b50;
    private static final int DIRECTORY_SIZE = 46;
    private static final int LOCAL_SIGNATURE = 0x04034b50;
    private static final int LOCAL_SIZE = 30;
    private static final int MAX_COMMENT = 0xffff;
    private static final int MAX_ENTRIES = 200_000;
    private static final int MAX_DIRECTORY = 1 << 26;
    private static final long IN_ZIP64 = 0xffffffffL;

    private record Directory(long offset, long size, long entries) {}

    private StoredZip() {}

    static Map<String, Entry> read(CheckpointFile file) {
        Directory directory = directory(file);
        if (directory.entries > MAX_ENTRIES || directory.size > MAX_DIRECTORY) {
            throw new MalformedException(
                    "damaged zip: its directory is too large (%s entries)", directory.entries);
        }
        ByteBuffer in = file.header(directory.offset, directory.size);
        Map<String, Entry> entries = new LinkedHashMap<>();
        for (long i = 0; i < directory.entries; i++) {
            if (in.remaining() < DIRECTORY_SIZE
                    || in.getInt(in.position()) != DIRECTORY_SIGNATURE) {
                throw new MalformedException("damaged zip: its directory is invalid");
            }
            ByteBuffer fixed = fixed(in, DIRECTORY_SIZE);
            String name = new String(bytes(in, fixed.getShort(28)), StandardCharsets.UTF_8);
            byte[] extra = bytes(in, fixed.getShort(30));
            bytes(in, fixed.getShort(32));
            if (entries.put(name, entry(file, name, fixed, extra)) != null) {
                throw new MalformedException("damaged zip: entry %s occurs twice", name);
            }
        }
        return entries;
    }

    private static Directory directory(CheckpointFile file) {
        long searched = Math.min(file.size(), END_SIZE + MAX_COMMENT);
        long start = file.size() - searched;
        ByteBuffer tail = file.header(start, searched);
        for (int i = tail.limit() - END_SIZE; i >= 0; i--) {
            if (tail.getInt(i) == END_SIGNATURE) {
                Directory directory =
                        new Directory(
                                Integer.toUnsignedLong(tail.getInt(i + 16)),
                                Integer.toUnsignedLong(tail.getInt(i + 12)),
                                Short.toUnsignedInt(tail.getShort(i + 10)));
                return directory64(file, start + i, directory);
            }
        }
        throw new MalformedException(
                "truncated zip: its directory is missing; copy or download" + " the complete file");
    }

    private static Directory directory64(CheckpointFile file, long end, Directory directory) {
        long locator = end - END64_LOCATOR_SIZE;
        if (locator < 0) {
            return directory;
        }
        ByteBuffer place = file.header(locator, END64_LOCATOR_SIZE);
        if (place.getInt(0) != END64_LOCATOR_SIGNATURE) {
            return directory;
        }
        ByteBuffer end64 = file.header(place.getLong(8), END64_SIZE);
        if (end64.getInt(0) != END64_SIGNATURE) {
            throw new MalformedException("damaged zip: its zip64 directory is missing");
        }
        return new Directory(end64.getLong(48), end64.getLong(40), end64.getLong(32));
    }

    private static Entry entry(CheckpointFile file, String name, ByteBuffer fixed, byte[] extra) {
        long stored = Integer.toUnsignedLong(fixed.getInt(20));
        long size = Integer.toUnsignedLong(fixed.getInt(24));
        long offset = Integer.toUnsignedLong(fixed.getInt(42));
        ByteBuffer zip64 = zip64(extra);
        size = size == IN_ZIP64 ? zip64.getLong() : size;
        stored = stored == IN_ZIP64 ? zip64.getLong() : stored;
        offset = offset == IN_ZIP64 ? zip64.getLong() : offset;
        boolean isEncrypted = (fixed.getShort(8) & 1) != 0;
        boolean isStored = fixed.getShort(10) == 0 && stored == size && !isEncrypted;
        ByteBuffer local = file.header(offset, LOCAL_SIZE);
        if (local.getInt(0) != LOCAL_SIGNATURE) {
            throw new MalformedException("damaged zip: entry %s is not at its offset", name);
        }
        long begin =
                offset
                        + LOCAL_SIZE
                        + Short.toUnsignedInt(local.getShort(26))
                        + Short.toUnsignedInt(local.getShort(28));
        return new Entry(name, begin, size, isStored);
    }

    /** Returns the zip64 field with sizes and offsets beyond 32 bits; empty if there is none. */
    private static ByteBuffer zip64(byte[] extra) {
        ByteBuffer in = ByteBuffer.wrap(extra).order(ByteOrder.LITTLE_ENDIAN);
        while (in.remaining() >= 4) {
            short id = in.getShort();
            ByteBuffer field = fixed(in, Short.toUnsignedInt(in.getShort()));
            if (id == 1) {
                return field;
            }
        }
        return ByteBuffer.allocate(0);
    }

    private static ByteBuffer fixed(ByteBuffer in, int length) {
        if (in.remaining() < length) {
            throw new MalformedException("damaged zip: its directory is truncated");
        }
        ByteBuffer piece = in.slice(in.position(), length).order(in.order());
        in.position(in.position() + length);
        return piece;
    }

    private static byte[] bytes(ByteBuffer in, short length) {
        ByteBuffer piece = fixed(in, Short.toUnsignedInt(length));
        byte[] bytes = new byte[piece.remaining()];
        piece.get(bytes);
        return bytes;
    }
}

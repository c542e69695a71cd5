package dev.saccade.datasets.image;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.zip.CRC32;

import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.ImageOutputStream;

/** Parts of image files, to be put together as cameras and tools do or should not. */
public final class OddFiles {

    public static final int BYTE = 1;
    public static final int SHORT = 3;
    public static final int LONG = 4;
    public static final int ORIENTATION = 0x112;

    private OddFiles() {}

    /** Returns bytes one after the other. */
    public static byte[] join(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        Arrays.stream(parts).forEach(all::writeBytes);
        return all.toByteArray();
    }

    /** Returns an entry of a directory, whose first value is within it. */
    public static byte[] entry(ByteOrder order, int tag, int type, int count, int value) {
        ByteBuffer entry = ByteBuffer.allocate(12).order(order);
        entry.putShort((short) tag).putShort((short) type).putInt(count);
        switch (type) {
            case BYTE -> entry.put((byte) value);
            case SHORT -> entry.putShort((short) value);
            default -> entry.putInt(value);
        }
        return entry.array();
    }

    /** Returns an entry of a directory whose values are elsewhere. */
    public static byte[] entryTo(ByteOrder order, int tag, int type, int count, int place) {
        byte[] entry = entry(order, tag, LONG, count, place);
        ByteBuffer.wrap(entry).order(order).putShort(2, (short) type);
        return entry;
    }

    /** Returns a TIFF, such as EXIF data, of one directory, with what stands behind it. */
    public static byte[] tiff(ByteOrder order, byte[] behind, byte[]... entries) {
        ByteBuffer start = ByteBuffer.allocate(10).order(order);
        start.put((order == ByteOrder.BIG_ENDIAN ? "MM" : "II").getBytes(US_ASCII));
        start.putShort((short) 42).putInt(8).putShort((short) entries.length);
        return join(start.array(), join(entries), new byte[4], behind);
    }

    /** Returns EXIF data of one entry. */
    public static byte[] exif(int type, int count, int orientation) {
        ByteOrder order = ByteOrder.BIG_ENDIAN;
        return tiff(order, new byte[0], entry(order, ORIENTATION, type, count, orientation));
    }

    public static byte[] exif(int orientation) {
        return exif(SHORT, 1, orientation);
    }

    /** Returns a segment of a JPEG. */
    public static byte[] segment(int code, byte[]... content) {
        byte[] all = join(content);
        ByteBuffer start = ByteBuffer.allocate(4).put((byte) 0xFF).put((byte) code);
        return join(start.putShort((short) (all.length + 2)).array(), all);
    }

    public static byte[] exifSegment(byte[] exif) {
        return segment(0xE1, "Exif\0\0".getBytes(US_ASCII), exif);
    }

    /** Returns a JPEG with segments at its start. */
    public static byte[] jpeg(byte[] jpeg, byte[]... segments) {
        return insert(jpeg, 2, segments);
    }

    public static byte[] insert(byte[] file, int at, byte[]... parts) {
        return join(
                Arrays.copyOf(file, at), join(parts), Arrays.copyOfRange(file, at, file.length));
    }

    /** Returns where the first segment of a kind begins in a JPEG. */
    public static int find(byte[] jpeg, int code) {
        int at = 2;
        while (jpeg[at + 1] != (byte) code) {
            at += 2 + Short.toUnsignedInt(ByteBuffer.wrap(jpeg).getShort(at + 2));
        }
        return at;
    }

    /** Returns a chunk of a PNG. */
    public static byte[] chunk(String kind, byte[] content) {
        CRC32 checksum = new CRC32();
        byte[] body = join(kind.getBytes(US_ASCII), content);
        checksum.update(body);
        return join(number(content.length), body, number((int) checksum.getValue()));
    }

    /** Returns a chunk whose checksum is wrong. */
    public static byte[] damagedChunk(String kind, byte[] content) {
        byte[] chunk = chunk(kind, content);
        chunk[chunk.length - 1] ^= 1;
        return chunk;
    }

    private static byte[] number(int value) {
        return ByteBuffer.allocate(4).putInt(value).array();
    }

    /** Returns a PNG with chunks before its pixels. */
    public static byte[] png(byte[] png, byte[]... chunks) {
        return insert(png, 33, chunks);
    }

    /** Returns a TIFF whose first directory has one more entry; it lies at the end now. */
    public static byte[] withEntry(byte[] tiff, byte[] entry) {
        ByteOrder order = tiff[0] == 'I' ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
        ByteBuffer file = ByteBuffer.wrap(tiff).order(order);
        int old = file.getInt(4);
        List<byte[]> entries = new ArrayList<>(List.of(entry));
        for (int i = 0; i < file.getShort(old); i++) {
            entries.add(Arrays.copyOfRange(tiff, old + 2 + 12 * i, old + 14 + 12 * i));
        }
        entries.sort(Comparator.comparing(bytes -> ByteBuffer.wrap(bytes).order(order).getShort()));
        ByteBuffer directory = ByteBuffer.allocate(6 + 12 * entries.size()).order(order);
        directory.putShort((short) entries.size());
        entries.forEach(directory::put);
        byte[] moved = join(tiff, new byte[tiff.length % 2], directory.array());
        ByteBuffer.wrap(moved).order(order).putInt(4, moved.length - directory.capacity());
        return moved;
    }

    /** Returns a TIFF of tiles, each smaller than the image. */
    public static byte[] tiles(BufferedImage image) {
        ImageWriter writer = ImageIO.getImageWritersByFormatName("tiff").next();
        ImageWriteParam tiles = writer.getDefaultWriteParam();
        tiles.setTilingMode(ImageWriteParam.MODE_EXPLICIT);
        tiles.setTiling(16, 16, 0, 0);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ImageOutputStream stream = ImageIO.createImageOutputStream(bytes)) {
            writer.setOutput(stream);
            writer.write(null, new IIOImage(image, null, null), tiles);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        writer.dispose();
        return bytes.toByteArray();
    }

    /** Returns a BigTIFF, one gray byte a pixel. */
    public static byte[] bigTiff(int width, byte[] pixels, int orientation) {
        int[][] entries = {
            {0x100, width},
            {0x101, pixels.length / width},
            {0x102, 8},
            {0x103, 1},
            {0x106, 1},
            {0x111, 24 + 20 * 10 + 8},
            {ORIENTATION, orientation},
            {0x115, 1},
            {0x116, pixels.length / width},
            {0x117, pixels.length}
        };
        ByteBuffer tiff = ByteBuffer.allocate(24 + 20 * entries.length + 8);
        tiff.order(ByteOrder.LITTLE_ENDIAN).put(new byte[] {'I', 'I', 43, 0, 8, 0, 0, 0});
        tiff.putLong(16).putLong(entries.length);
        for (int[] entry : entries) {
            tiff.putShort((short) entry[0]).putShort((short) LONG).putLong(1).putLong(entry[1]);
        }
        return join(tiff.array(), pixels);
    }

    /** Returns a WebP of VP8L with a header that tells of EXIF data, and these. */
    public static byte[] webp(byte[] simple, int width, int height, byte[] exif) {
        ByteBuffer extended = ByteBuffer.allocate(10).order(ByteOrder.LITTLE_ENDIAN);
        extended.putInt(8).putInt(width - 1).putShort(7, (short) (height - 1));
        byte[] chunks =
                join(
                        riff("VP8X", extended.array()),
                        Arrays.copyOfRange(simple, 12, simple.length),
                        riff("EXIF", exif));
        return riff("RIFF", join("WEBP".getBytes(US_ASCII), chunks));
    }

    static byte[] riff(String kind, byte[] content) {
        ByteBuffer start = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
        start.put(kind.getBytes(US_ASCII)).putInt(content.length);
        return join(start.array(), content, new byte[content.length % 2]);
    }
}

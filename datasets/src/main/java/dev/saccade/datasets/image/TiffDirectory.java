package dev.saccade.datasets.image;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.structures.Size;

import org.opencv.core.Mat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The first directory of a TIFF or of EXIF data, which have the same format.
 *
 * <p>Entries are read on access, in place, so nothing is allocated for claimed lengths ({@code
 * HeaderParsersTest}). OpenCV rotates each tile separately ({@code OrientationTest}), so the
 * orientation is read here. Values outside of the bytes throw a {@link RuntimeException}.
 */
final class TiffDirectory {

    private static final int SUBFILE = 0xFE;
    static final int WIDTH = 0x100;
    static final int HEIGHT = 0x101;
    static final int BITS = 0x102;
    static final int COLORS = 0x106;
    private static final int ORIENTATION = 0x112;
    static final int CHANNELS = 0x115;
    static final int STRIP_LENGTHS = 0x117;
    static final int TILE_WIDTH = 0x142;
    static final int TILE_HEIGHT = 0x143;
    static final int TILE_LENGTHS = 0x145;

    private static final int REDUCED = 1;
    private static final int MASK = 4;
    private static final int MAX_PAGES = 1000;

    private static final int CMYK = 5;
    private static final int CIE_LAB = 8;
    private static final int ICC_LAB = 9;
    private static final int ITU_LAB = 10;

    /** Maximum total tile area in multiples of the image area, as whole tiles are decoded. */
    private static final int MAX_TIMES_TILED = 4;

    /** Total tile area that is always allowed, for small images. */
    private static final long MAX_TILE_PIXELS = 1 << 24;

    private static final int MAGIC = 42;
    private static final int BIG_MAGIC = 43;
    private static final int SHORT = 3;
    private static final int NONE = -1;

    private final ByteBuffer tiff;
    private final boolean big;
    private final long entries;
    private final int start;

    TiffDirectory(ByteBuffer bytes) {
        boolean littleEndian = bytes.get(0) == 'I';
        tiff = bytes.slice().order(littleEndian ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
        int magic = tiff.getShort(2);
        if (tiff.get(1) != tiff.get(0) || (magic != MAGIC && magic != BIG_MAGIC)) {
            throw new IllegalArgumentException("it is not a TIFF");
        }
        big = magic == BIG_MAGIC;
        int at = Math.toIntExact(number(big ? 8 : 4));
        entries = entries(at);
        start = at + (big ? Long.BYTES : Short.BYTES);
    }

    private TiffDirectory(TiffDirectory other, int at) {
        tiff = other.tiff;
        big = other.big;
        entries = entries(at);
        start = at + (big ? Long.BYTES : Short.BYTES);
    }

    private long entries(int at) {
        return big ? tiff.getLong(at) : Short.toUnsignedLong(tiff.getShort(at));
    }

    private long number(int at) {
        return big ? tiff.getLong(at) : Integer.toUnsignedLong(tiff.getInt(at));
    }

    private Optional<TiffDirectory> next() {
        try {
            long next = number(Math.toIntExact(start + entries * entryLength()));
            return next == 0
                    ? Optional.empty()
                    : Optional.of(new TiffDirectory(this, Math.toIntExact(next)));
        } catch (RuntimeException e) {
            return Optional.empty();
        }
    }

    private List<String> warnings() {
        List<String> warnings = new ArrayList<>();
        if ((value(SUBFILE, 0) & REDUCED) != 0) {
            warnings.add("its first page is a thumbnail; only that page is read");
        } else if (hasMorePages()) {
            warnings.add("has several pages; only the first is read");
        }
        long colors = value(COLORS, 0);
        if (colors == CMYK) {
            warnings.add(ImageHeader.CMYK);
        } else if (colors == CIE_LAB || colors == ICC_LAB || colors == ITU_LAB) {
            warnings.add("is CIELab; converted without its color profile");
        }
        return warnings;
    }

    private boolean hasMorePages() {
        Optional<TiffDirectory> page = next();
        for (int i = 0; i < MAX_PAGES && page.isPresent(); i++) {
            if ((page.get().value(SUBFILE, 0) & (REDUCED | MASK)) == 0) {
                return true;
            }
            page = page.get().next();
        }
        return false;
    }

    static ImageHeader header(byte[] bytes) {
        TiffDirectory directory = new TiffDirectory(ByteBuffer.wrap(bytes));
        Size size = directory.size(HEIGHT, WIDTH);
        Size tile = directory.size(TILE_HEIGHT, TILE_WIDTH);
        checkArgument(
                tiled(size.width(), tile.width()) * tiled(size.height(), tile.height())
                        <= Math.max(MAX_TIMES_TILED * size.area(), MAX_TILE_PIXELS),
                "its tiles are far larger than the image of %s pixels",
                size);
        checkArgument(
                Math.max(directory.sum(STRIP_LENGTHS), directory.sum(TILE_LENGTHS)) <= bytes.length,
                "its strips or tiles are longer than the file");
        return new ImageHeader(
                ImageHeader.Kind.TIFF,
                size,
                Math.toIntExact(directory.value(CHANNELS, 1)),
                Math.toIntExact(directory.value(BITS, 1)),
                orientation(ByteBuffer.wrap(bytes)),
                ImageHeader.SOUND,
                directory.warnings());
    }

    private static double tiled(int side, int tile) {
        return tile <= 0 ? side : Math.ceil((double) side / tile) * tile;
    }

    private Size size(int height, int width) {
        return new Size(Math.toIntExact(value(height, 0)), Math.toIntExact(value(width, 0)));
    }

    /** Returns the orientation in EXIF data; upright if missing or unreadable. */
    static int orientation(ByteBuffer exif) {
        try {
            long value = new TiffDirectory(exif).value(ORIENTATION, ImageHeader.UPRIGHT);
            return value >= 1 && value <= 8 ? (int) value : ImageHeader.UPRIGHT;
        } catch (RuntimeException e) {
            return ImageHeader.UPRIGHT;
        }
    }

    /**
     * Sets the orientation to upright in the decoder's copy of the file, [N, 1] bytes. OpenCV
     * rotates TIFFs even if disabled, and each tile separately.
     */
    static void makeUpright(byte[] bytes, Mat encoded) {
        TiffDirectory directory = new TiffDirectory(ByteBuffer.wrap(bytes));
        int entry = directory.find(ORIENTATION);
        if (entry != NONE) {
            encoded.put(entry, 0, directory.shortEntry(ORIENTATION, ImageHeader.UPRIGHT));
        }
    }

    private byte[] shortEntry(int tag, int value) {
        ByteBuffer entry = ByteBuffer.allocate(entryLength()).order(tiff.order());
        entry.putShort(0, (short) tag).putShort(2, (short) SHORT);
        if (big) {
            entry.putLong(4, 1).putShort(12, (short) value);
        } else {
            entry.putInt(4, 1).putShort(8, (short) value);
        }
        return entry.array();
    }

    private int entryLength() {
        return big ? 20 : 12;
    }

    private int find(int tag) {
        long available = Math.min(entries, (tiff.limit() - start) / entryLength());
        for (int i = 0; i < available; i++) {
            int entry = start + i * entryLength();
            if (Short.toUnsignedInt(tiff.getShort(entry)) == tag) {
                return entry;
            }
        }
        return NONE;
    }

    long value(int tag, long otherwise) {
        return values(tag).map(values -> values.at(0)).orElse(otherwise);
    }

    private double sum(int tag) {
        double sum = 0;
        Optional<Values> values = values(tag);
        for (long i = 0; i < values.map(Values::count).orElse(0L); i++) {
            sum += Math.abs((double) values.get().at(i));
        }
        return sum;
    }

    record Values(ByteBuffer tiff, int start, long count, int length) {

        /** Returns the value at an index; throws if the value is outside of the file. */
        long at(long index) {
            int place = Math.toIntExact(start + index * length);
            return switch (length) {
                case Byte.BYTES -> Byte.toUnsignedLong(tiff.get(place));
                case Short.BYTES -> Short.toUnsignedLong(tiff.getShort(place));
                case Integer.BYTES -> Integer.toUnsignedLong(tiff.getInt(place));
                default -> tiff.getLong(place);
            };
        }
    }

    Optional<Values> values(int tag) {
        int entry = find(tag);
        if (entry == NONE) {
            return Optional.empty();
        }
        long count = number(entry + 4);
        int length =
                switch (tiff.getShort(entry + 2)) {
                    case 1, 6 -> Byte.BYTES;
                    case SHORT, 8 -> Short.BYTES;
                    case 4, 9 -> Integer.BYTES;
                    case 16, 17 -> Long.BYTES;
                    default -> 0;
                };
        if (count < 1 || length == 0) {
            return Optional.empty();
        }
        int at = entry + (big ? 12 : 8);
        if (count > (big ? Long.BYTES : Integer.BYTES) / length) {
            at = Math.toIntExact(number(at));
        }
        return Optional.of(new Values(tiff, at, count, length));
    }
}

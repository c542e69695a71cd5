package dev.saccade.datasets.image;

import static com.google.common.base.Preconditions.checkArgument;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The tags of a page of a TIFF or BigTIFF. Values are read on access; damaged values throw a {@link
 * RuntimeException}.
 */
final class TiffTags {

    private static final int MAX_ENTRIES = 4096;
    private static final int MAX_PAGES = 65_536;
    private static final int MAGIC = 42;
    private static final int BIG_MAGIC = 43;

    /** Bytes of a value by type code; 0 if unknown. */
    private static final int[] LENGTHS = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};

    private static final int DOUBLE = 12;

    private final FileBytes file;
    private final ByteOrder order;
    private final boolean big;
    private final Map<Integer, ByteBuffer> entries = new HashMap<>();
    private final long next;

    private TiffTags(FileBytes file, ByteOrder order, boolean big, long at) {
        this.file = file;
        this.order = order;
        this.big = big;
        int counter = big ? Long.BYTES : Short.BYTES;
        ByteBuffer start = file.read(at, counter, order);
        long count = big ? start.getLong(0) : Short.toUnsignedLong(start.getShort(0));
        checkArgument(count > 0 && count <= MAX_ENTRIES, "a page has %s tags", count);
        int length = big ? 20 : 12;
        ByteBuffer all = file.read(at + counter, count * length, order);
        for (int i = 0; i < count; i++) {
            ByteBuffer entry = all.slice(i * length, length).order(order);
            entries.putIfAbsent(Short.toUnsignedInt(entry.getShort(0)), entry);
        }
        long end = at + counter + count * length;
        int pointer = big ? Long.BYTES : Integer.BYTES;
        // Some writers end the file after the last tag.
        next = end + pointer > file.size() ? 0 : number(file.read(end, pointer, order), 0);
    }

    /** Returns all pages; a loop or damage after the first page ends the list. */
    static List<TiffTags> pages(FileBytes file) {
        ByteBuffer header = file.read(0, Math.min(16, file.size()), ByteOrder.BIG_ENDIAN);
        checkArgument(header.limit() >= 8, "it is not a TIFF");
        short mark = header.getShort(0);
        checkArgument(mark == 0x4949 || mark == 0x4D4D, "it is not a TIFF");
        ByteOrder order = mark == 0x4949 ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
        header.order(order);
        int magic = header.getShort(2);
        checkArgument(magic == MAGIC || magic == BIG_MAGIC, "it is not a TIFF");
        boolean big = magic == BIG_MAGIC;
        long at = big ? header.getLong(8) : Integer.toUnsignedLong(header.getInt(4));
        List<TiffTags> pages = new ArrayList<>();
        Set<Long> seen = new HashSet<>();
        while (at != 0 && seen.add(at) && pages.size() < MAX_PAGES) {
            try {
                pages.add(new TiffTags(file, order, big, at));
            } catch (IllegalArgumentException e) {
                if (pages.isEmpty()) {
                    throw e;
                }
                break;
            }
            at = pages.get(pages.size() - 1).next;
        }
        checkArgument(!pages.isEmpty(), "it has no pages");
        return pages;
    }

    ByteOrder order() {
        return order;
    }

    private long number(ByteBuffer from, int at) {
        return big ? from.getLong(at) : Integer.toUnsignedLong(from.getInt(at));
    }

    boolean has(int tag) {
        return entries.containsKey(tag);
    }

    /** Returns the first value of a tag as an integer. */
    long value(int tag, long otherwise) {
        return has(tag) ? integers(tag, 1)[0] : otherwise;
    }

    int intValue(int tag, int otherwise) {
        return Math.toIntExact(value(tag, otherwise));
    }

    long count(int tag) {
        return has(tag) ? number(entries.get(tag), 4) : 0;
    }

    /** Returns the first {@code count} values of a tag; throws if it has fewer. */
    long[] integers(int tag, int count) {
        ByteBuffer content = content(tag, count);
        int type = type(tag);
        checkArgument(
                type != 2 && type != 5 && type != 10 && type != 11 && type != DOUBLE,
                "tag %s is not an integer",
                tag);
        long[] values = new long[count];
        for (int i = 0; i < count; i++) {
            values[i] =
                    switch (LENGTHS[type]) {
                        case Byte.BYTES -> Byte.toUnsignedLong(content.get(i));
                        case Short.BYTES -> Short.toUnsignedLong(content.getShort(i * Short.BYTES));
                        case Integer.BYTES ->
                                Integer.toUnsignedLong(content.getInt(i * Integer.BYTES));
                        default -> content.getLong(i * Long.BYTES);
                    };
        }
        return values;
    }

    /** Returns all values of a tag of doubles; empty if missing, damaged or of another type. */
    double[] doubles(int tag, int most) {
        if (!has(tag) || type(tag) != DOUBLE || count(tag) < 1 || count(tag) > most) {
            return new double[0];
        }
        double[] values = new double[(int) count(tag)];
        content(tag, values.length).asDoubleBuffer().get(values);
        return values;
    }

    /** Returns a text of at most {@code most} bytes. */
    Optional<String> text(int tag, int most) {
        if (!has(tag) || type(tag) != 2 || count(tag) < 1 || count(tag) > most) {
            return Optional.empty();
        }
        ByteBuffer content = content(tag, (int) count(tag));
        String text = StandardCharsets.ISO_8859_1.decode(content).toString();
        int end = text.indexOf('\0');
        return Optional.of(end < 0 ? text : text.substring(0, end));
    }

    private int type(int tag) {
        return Short.toUnsignedInt(entries.get(tag).getShort(2));
    }

    private ByteBuffer content(int tag, int needed) {
        ByteBuffer entry = entries.get(tag);
        int type = type(tag);
        int length = type < LENGTHS.length ? LENGTHS[type] : 0;
        long count = number(entry, 4);
        checkArgument(length > 0, "tag %s has type %s", tag, type);
        checkArgument(count >= needed, "tag %s has %s values, expected %s", tag, count, needed);
        int field = big ? 12 : 8;
        int room = big ? Long.BYTES : Integer.BYTES;
        if (count <= room / length) {
            return entry.slice(field, needed * length).order(order);
        }
        return file.read(number(entry, field), (long) needed * length, order);
    }
}

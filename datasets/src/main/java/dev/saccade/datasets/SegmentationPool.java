package dev.saccade.datasets;

import dev.saccade.core.structures.Size;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * All outlines of a data set in one array of bytes: about two bytes a coordinate instead of an
 * object an outline.
 *
 * <p>COCO writes coordinates with two decimals, so a ring is kept as differences of hundredths
 * where that loses nothing, and as doubles otherwise.
 */
final class SegmentationPool {

    /** What {@link #read} turns into {@link Segmentation.None}. */
    static final int NONE = -1;

    private static final int POLYGONS = 0;
    private static final int RUNS = 1;
    private static final int HUNDREDTHS = 0;
    private static final int DOUBLES = 1;
    private static final double LARGEST_HUNDREDTHS = 1e12;

    private byte[] bytes = new byte[1 << 12];
    private int size;

    /** Adds an outline and returns where it lies. */
    int add(Segmentation outline) {
        if (outline instanceof Segmentation.Runs runs) {
            return addRuns(runs.size(), runs.counts());
        }
        if (outline instanceof Segmentation.Polygons polygons) {
            return addPolygons(polygons.rings());
        }
        return NONE;
    }

    private int addPolygons(List<double[]> rings) {
        int start = size;
        put(POLYGONS);
        rings.forEach(this::addRing);
        putVarint(0);
        return start;
    }

    private void addRing(double[] ring) {
        putVarint(ring.length + 1L);
        boolean exact = Arrays.stream(ring).allMatch(SegmentationPool::isHundredths);
        put(exact ? HUNDREDTHS : DOUBLES);
        for (int i = 0; i < ring.length; i++) {
            if (exact) {
                long before = i < 2 ? 0 : Math.round(ring[i - 2] * 100);
                putZigzag(Math.round(ring[i] * 100) - before);
            } else {
                putLong(Double.doubleToRawLongBits(ring[i]));
            }
        }
    }

    private int addRuns(Size maskSize, String counts) {
        int start = size;
        put(RUNS);
        putZigzag(maskSize.height());
        putZigzag(maskSize.width());
        byte[] text = counts.getBytes(StandardCharsets.UTF_8);
        putVarint(text.length);
        for (byte character : text) {
            put(character);
        }
        return start;
    }

    /** Gives back the memory that was reserved for more. */
    void trim() {
        bytes = Arrays.copyOf(bytes, size);
    }

    /** Returns the outline that lies at a place. */
    Segmentation read(int place) {
        return place == NONE ? new Segmentation.None() : new Cursor(place).segmentation();
    }

    private static boolean isHundredths(double value) {
        return Math.abs(value) < LARGEST_HUNDREDTHS
                && Double.compare(Math.round(value * 100) / 100.0, value) == 0;
    }

    private void put(int value) {
        if (size == bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.addExact(size, size >> 1));
        }
        bytes[size++] = (byte) value;
    }

    private void putVarint(long value) {
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            put(((int) rest & 0x7F) | 0x80);
            rest >>>= 7;
        }
        put((int) rest);
    }

    private void putZigzag(long value) {
        putVarint((value << 1) ^ (value >> 63));
    }

    private void putLong(long value) {
        for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
            put((int) (value >>> shift));
        }
    }

    private final class Cursor {

        private int at;

        Cursor(int at) {
            this.at = at;
        }

        Segmentation segmentation() {
            if (bytes[at++] == POLYGONS) {
                List<double[]> rings = new ArrayList<>();
                for (long length = varint(); length > 0; length = varint()) {
                    rings.add(ring((int) length - 1));
                }
                return new Segmentation.Polygons(rings);
            }
            Size maskSize = new Size((int) zigzag(), (int) zigzag());
            int length = (int) varint();
            String counts = new String(bytes, at, length, StandardCharsets.UTF_8);
            return new Segmentation.Runs(maskSize, counts);
        }

        private double[] ring(int length) {
            double[] ring = new double[length];
            boolean exact = bytes[at++] == HUNDREDTHS;
            long[] before = new long[2];
            for (int i = 0; i < length; i++) {
                if (exact) {
                    before[i % 2] += zigzag();
                    ring[i] = before[i % 2] / 100.0;
                } else {
                    ring[i] = Double.longBitsToDouble(fixed());
                }
            }
            return ring;
        }

        private long varint() {
            long value = 0;
            for (int shift = 0; ; shift += 7) {
                byte part = bytes[at++];
                value |= (part & 0x7FL) << shift;
                if (part >= 0) {
                    return value;
                }
            }
        }

        private long zigzag() {
            long value = varint();
            return (value >>> 1) ^ -(value & 1);
        }

        private long fixed() {
            long value = 0;
            for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
                value |= (bytes[at++] & 0xFFL) << shift;
            }
            return value;
        }
    }
}

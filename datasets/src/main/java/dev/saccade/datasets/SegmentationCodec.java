package dev.saccade.datasets;

import dev.saccade.core.structures.Size;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Packs outlines into about two bytes per coordinate.
 *
 * <p>COCO writes coordinates with two decimals, so a polygon is stored as differences in hundredths
 * if these are exact, and otherwise as doubles.
 */
final class SegmentationCodec {

    private static final byte POLYGONS = 0;
    private static final byte RUNS = 1;
    private static final int RUNS_HEADER = 1 + 2 * Integer.BYTES;
    private static final byte[] NONE = {};

    /** Limit below which differences take at most eight bytes each. */
    private static final double LARGEST_HUNDREDTHS = 1e12;

    private SegmentationCodec() {}

    /** Packs an outline; returns no bytes for {@link Segmentation.None}. */
    static byte[] pack(Segmentation outline) {
        if (outline instanceof Segmentation.Runs runs) {
            byte[] counts = runs.counts().getBytes(StandardCharsets.UTF_8);
            ByteBuffer packed = ByteBuffer.allocate(RUNS_HEADER + counts.length).put(RUNS);
            packed.putInt(runs.size().height()).putInt(runs.size().width());
            return packed.put(counts).array();
        }
        if (outline instanceof Segmentation.Polygons polygons) {
            int most = 1;
            for (double[] ring : polygons.rings()) {
                most += Double.BYTES * (1 + ring.length);
            }
            byte[] packed = new byte[most];
            packed[0] = POLYGONS;
            int length = 1;
            for (double[] ring : polygons.rings()) {
                length = putRing(packed, length, ring);
            }
            return Arrays.copyOf(packed, length);
        }
        return NONE;
    }

    private static int putRing(byte[] packed, int start, double[] ring) {
        boolean exact = Arrays.stream(ring).allMatch(SegmentationCodec::isHundredths);
        int at = putVarint(packed, start, 2L * ring.length + (exact ? 1 : 0));
        long[] before = new long[2];
        for (int i = 0; i < ring.length; i++) {
            if (exact) {
                long hundredths = Math.round(ring[i] * 100);
                long difference = hundredths - before[i % 2];
                before[i % 2] = hundredths;
                at = putVarint(packed, at, (difference << 1) ^ (difference >> 63));
            } else {
                ByteBuffer.wrap(packed).putDouble(at, ring[i]);
                at += Double.BYTES;
            }
        }
        return at;
    }

    private static boolean isHundredths(double value) {
        return Math.abs(value) < LARGEST_HUNDREDTHS
                && Double.compare(Math.round(value * 100) / 100.0, value) == 0;
    }

    private static int putVarint(byte[] packed, int start, long value) {
        int at = start;
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            packed[at++] = (byte) ((rest & 0x7F) | 0x80);
            rest >>>= 7;
        }
        packed[at++] = (byte) rest;
        return at;
    }

    static Segmentation unpack(byte[] packed) {
        if (packed.length == 0) {
            return new Segmentation.None();
        }
        ByteBuffer bytes = ByteBuffer.wrap(packed);
        if (bytes.get() == RUNS) {
            Size size = new Size(bytes.getInt(), bytes.getInt());
            int length = packed.length - RUNS_HEADER;
            String counts = new String(packed, RUNS_HEADER, length, StandardCharsets.UTF_8);
            return new Segmentation.Runs(size, counts);
        }
        List<double[]> rings = new ArrayList<>();
        while (bytes.hasRemaining()) {
            rings.add(ring(bytes));
        }
        return new Segmentation.Polygons(rings);
    }

    private static double[] ring(ByteBuffer bytes) {
        long header = varint(bytes);
        double[] ring = new double[(int) (header >> 1)];
        long[] sums = new long[2];
        for (int i = 0; i < ring.length; i++) {
            if ((header & 1) == 1) {
                long difference = varint(bytes);
                sums[i % 2] += (difference >>> 1) ^ -(difference & 1);
                ring[i] = sums[i % 2] / 100.0;
            } else {
                ring[i] = bytes.getDouble();
            }
        }
        return ring;
    }

    private static long varint(ByteBuffer bytes) {
        long value = 0;
        for (int shift = 0; ; shift += 7) {
            byte part = bytes.get();
            value |= (part & 0x7FL) << shift;
            if (part >= 0) {
                return value;
            }
        }
    }
}

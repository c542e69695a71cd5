package dev.saccade.datasets.image;

import static com.google.common.base.Preconditions.checkArgument;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.IntFunction;

/** Reads the pixels of a page of a TIFF. Errors name no file. */
final class TiffPage {

    private final FileBytes file;
    private final TiffLayout layout;
    private final ByteOrder order;
    private final long[] offsets;
    private final long[] lengths;

    TiffPage(FileBytes file, TiffTags tags) {
        this.file = file;
        layout = TiffLayout.of(tags);
        order = tags.order();
        int chunks = layout.chunks();
        boolean tiled = layout.tiled();
        int positions = tiled ? TiffLayout.TILES : TiffLayout.STRIPS;
        checkArgument(tags.has(positions), "it has no strips and no tiles");
        offsets = tags.integers(positions, chunks);
        int counts = tiled ? TiffLayout.TILE_LENGTHS : TiffLayout.STRIP_LENGTHS;
        // Uncompressed files may have no lengths.
        lengths = tags.has(counts) ? tags.integers(counts, chunks) : unknownLengths();
    }

    private long[] unknownLengths() {
        long[] unknown = new long[offsets.length];
        for (int i = 0; i < unknown.length; i++) {
            unknown[i] = Math.max(0, file.size() - offsets[i]);
        }
        return unknown;
    }

    TiffLayout layout() {
        return layout;
    }

    /** Copies a part of the page to a raster of the same type, from a channel on. */
    void read(Window window, Raster target, int firstChannel) {
        int planes = layout.separate() ? layout.channels() : 1;
        int firstRow = window.top() / layout.chunkHeight();
        int lastRow = (window.bottom() - 1) / layout.chunkHeight();
        int firstColumn = window.left() / layout.chunkWidth();
        int lastColumn = (window.right() - 1) / layout.chunkWidth();
        for (int plane = 0; plane < planes; plane++) {
            for (int row = firstRow; row <= lastRow; row++) {
                for (int column = firstColumn; column <= lastColumn; column++) {
                    copy(plane, row, column, window, target, firstChannel + plane);
                }
            }
        }
    }

    private void copy(
            int plane, int row, int column, Window window, Raster target, int firstChannel) {
        int top = row * layout.chunkHeight();
        int left = column * layout.chunkWidth();
        int fromY = Math.max(window.top(), top) - top;
        int toY = (int) Math.min(window.bottom(), (long) top + layout.chunkHeight()) - top;
        int fromX = Math.max(window.left(), left) - left;
        int toX = (int) Math.min(window.right(), (long) left + layout.chunkWidth()) - left;
        int index = (plane * layout.rows() + row) * layout.columns() + column;
        int channels = layout.chunkChannels();
        if (offsets[index] == 0 && lengths[index] == 0) {
            fill(window, target, firstChannel, top + fromY, top + toY, left + fromX, left + toX);
            return;
        }
        IntFunction<ByteBuffer> rows;
        int first = fromX * channels;
        if (layout.isStoredAsRead()) {
            // A strip may be as large as the file, so only the needed columns are read.
            checkArgument(
                    lengths[index] >= toY * layout.rowBytes(), "a strip or tile is incomplete");
            rows = y -> storedRow(index, y, fromX, toX);
            first = 0;
        } else {
            rows = decodedRows(index, fromY, toY);
        }
        for (int y = fromY; y < toY; y++) {
            int at =
                    target.index(
                            top + y - window.top(), left + fromX - window.left(), firstChannel);
            copyRow(rows.apply(y), first, toX - fromX, channels, target, at);
        }
    }

    /** Reads columns of a row of a strip or tile whose values are {@code isStoredAsRead}. */
    private ByteBuffer storedRow(int index, int y, int fromX, int toX) {
        long pixelBytes = (long) layout.chunkChannels() * layout.type().bytes();
        long start = offsets[index] + y * layout.rowBytes() + fromX * pixelBytes;
        ByteBuffer stored = file.read(start, (toX - fromX) * pixelBytes, order);
        byte[] values = new byte[stored.remaining()];
        stored.get(values);
        TiffRows.makeLittleEndian(values, order, layout.type());
        return ByteBuffer.wrap(values);
    }

    private IntFunction<ByteBuffer> decodedRows(int index, int fromY, int toY) {
        int firstY = layout.compression() == TiffCompression.NONE ? fromY : 0;
        long rowBytes = layout.rowBytes();
        ByteBuffer chunk = chunk(index, firstY * rowBytes, (toY - firstY) * rowBytes);
        TiffRows rows = new TiffRows(layout, order, chunk);
        return y -> rows.next(y - firstY);
    }

    /** Returns the stored bytes from an offset on, uncompressed but otherwise as stored. */
    private ByteBuffer chunk(int index, long offset, long needed) {
        checkArgument(needed <= Integer.MAX_VALUE - 64, "a strip or tile has %s bytes", needed);
        if (layout.compression() == TiffCompression.NONE && !layout.reversesBits()) {
            checkArgument(lengths[index] >= offset + needed, "a strip or tile is incomplete");
            return file.read(Math.addExact(offsets[index], offset), needed, order);
        }
        ByteBuffer packed = file.read(offsets[index], lengths[index], order);
        if (layout.reversesBits()) {
            for (int i = 0; i < packed.limit(); i++) {
                packed.put(i, (byte) (Integer.reverse(packed.get(i)) >>> 24));
            }
        }
        if (layout.compression() == TiffCompression.NONE) {
            checkArgument(packed.limit() >= offset + needed, "a strip or tile is incomplete");
            return packed.slice((int) offset, (int) needed);
        }
        return ByteBuffer.wrap(layout.compression().decode(packed, (int) (offset + needed)));
    }

    private static void copyRow(
            ByteBuffer values, int first, int pixels, int channels, Raster target, int at) {
        int bytes = target.type().bytes();
        ByteBuffer samples = target.samples();
        if (channels == target.channels()) {
            samples.put(at, values, first * bytes, pixels * channels * bytes);
            return;
        }
        int step = target.channels() * bytes;
        int from = first * bytes;
        for (int x = 0; x < pixels; x++, at += step) {
            for (int i = 0; i < channels * bytes; i++) {
                samples.put(at + i, values.get(from++));
            }
        }
    }

    private void fill(
            Window window, Raster target, int channel, int top, int bottom, int left, int right) {
        if (layout.missing() == 0) {
            return;
        }
        for (int y = top; y < bottom; y++) {
            for (int x = left; x < right; x++) {
                for (int c = 0; c < layout.chunkChannels(); c++) {
                    int at = target.index(y - window.top(), x - window.left(), channel + c);
                    layout.type().write(target.samples(), at, layout.missing());
                }
            }
        }
    }
}

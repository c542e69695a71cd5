package dev.saccade.datasets.image;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.saccade.core.structures.Size;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The header of a WebP: its first chunk, which states the size. Commons Imaging allocates memory
 * for the claimed length of a chunk ({@code HeaderParsersTest}).
 */
final class WebpHeader {

    private static final int KIND = 12;
    private static final int CONTENT = 20;

    private WebpHeader() {}

    /** Returns what a WebP says about itself. */
    static ImageHeader read(byte[] bytes) {
        ByteBuffer webp = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        String kind = US_ASCII.decode(webp.slice(KIND, 4)).toString();
        Size size =
                switch (kind) {
                    case "VP8 " -> size(webp.getShort(CONTENT + 6), webp.getShort(CONTENT + 8), 14);
                    case "VP8L" -> {
                        int sides = webp.getInt(CONTENT + 1);
                        yield lessOne(sides, sides >>> 14, 14);
                    }
                    case "VP8X" ->
                            lessOne(webp.getInt(CONTENT + 4), webp.getInt(CONTENT + 6) >>> 8, 24);
                    default ->
                            throw new IllegalArgumentException("it does not begin with its size");
                };
        boolean complete = bytes.length - 8 >= Integer.toUnsignedLong(webp.getInt(4));
        return new ImageHeader(
                ImageHeader.Kind.WEBP,
                size,
                /* channels= */ 3,
                Byte.SIZE,
                ImageHeader.UPRIGHT,
                complete ? ImageHeader.SOUND : ImageHeader.TRUNCATED,
                new WebpChunks(bytes).warnings());
    }

    private static Size lessOne(int width, int height, int bits) {
        Size less = size(width, height, bits);
        return new Size(less.height() + 1, less.width() + 1);
    }

    /** Returns the size in the lowest bits of numbers. */
    private static Size size(int width, int height, int bits) {
        int mask = (1 << bits) - 1;
        return new Size(height & mask, width & mask);
    }
}

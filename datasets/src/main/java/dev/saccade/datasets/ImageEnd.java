package dev.saccade.datasets;

import com.google.common.primitives.Ints;

/**
 * Whether an image file goes on to its end. Decoders do not tell: OpenCV fills what is missing of a
 * truncated JPEG with grey and reports success.
 */
final class ImageEnd {

    private static final int MARKER = 0xFF;
    private static final int END_OF_IMAGE = 0xD9;
    private static final int START_OF_SCAN = 0xDA;
    private static final int PNG_SIGNATURE_LENGTH = 8;
    private static final int PNG_CHUNK_OVERHEAD = 12;
    private static final int PNG_END = 0x49454E44;

    private ImageEnd() {}

    /** Returns whether the end that belongs to the kind is there; true for kinds without one. */
    static boolean isComplete(ImageHeader.Kind kind, byte[] bytes) {
        return switch (kind) {
            case JPEG -> jpegEnds(bytes);
            case PNG -> pngEnds(bytes);
            case WEBP -> bytes.length >= 8 && bytes.length - 8 >= littleEndian(bytes, 4);
            case BMP, TIFF -> true;
        };
    }

    /** Follows the segments, so that the end of an embedded thumbnail does not count. */
    private static boolean jpegEnds(byte[] bytes) {
        int at = 2;
        boolean inScan = false;
        while (at + 1 < bytes.length) {
            int code = bytes[at + 1] & 0xFF;
            boolean marker = (bytes[at] & 0xFF) == MARKER && code != 0 && code != MARKER;
            if (!marker || isStandalone(code)) {
                at++;
            } else if (code == END_OF_IMAGE) {
                return inScan;
            } else if (at + 3 < bytes.length) {
                inScan |= code == START_OF_SCAN;
                at += 2 + Ints.fromBytes((byte) 0, (byte) 0, bytes[at + 2], bytes[at + 3]);
            } else {
                return false;
            }
        }
        return false;
    }

    /** Restart markers and TEM stand alone; all others have a length. */
    private static boolean isStandalone(int code) {
        return code == 0x01 || (code >= 0xD0 && code <= 0xD8);
    }

    private static boolean pngEnds(byte[] bytes) {
        long at = PNG_SIGNATURE_LENGTH;
        while (at + PNG_CHUNK_OVERHEAD <= bytes.length) {
            if (bigEndian(bytes, (int) at + 4) == PNG_END) {
                return true;
            }
            at += PNG_CHUNK_OVERHEAD + (bigEndian(bytes, (int) at) & 0xFFFFFFFFL);
        }
        return false;
    }

    private static int bigEndian(byte[] bytes, int at) {
        return Ints.fromBytes(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]);
    }

    private static long littleEndian(byte[] bytes, int at) {
        return Ints.fromBytes(bytes[at + 3], bytes[at + 2], bytes[at + 1], bytes[at]) & 0xFFFFFFFFL;
    }
}

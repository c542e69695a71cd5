package dev.saccade.datasets.image;

import dev.saccade.core.structures.Size;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * Header of a BMP from Windows or the older OS/2. Parsed here because Commons Imaging reports
 * negative heights and rejects OS/2 headers ({@code HeaderParsersTest}).
 */
final class BmpHeader {

    private static final int OS2_LENGTH = 12;

    private BmpHeader() {}

    static ImageHeader read(byte[] bytes) {
        ByteBuffer bmp = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        boolean os2 = bmp.getInt(14) == OS2_LENGTH;
        int width = os2 ? Short.toUnsignedInt(bmp.getShort(18)) : bmp.getInt(18);
        int height = os2 ? Short.toUnsignedInt(bmp.getShort(20)) : Math.abs(bmp.getInt(22));
        return new ImageHeader(
                ImageHeader.Kind.BMP,
                new Size(height, width),
                /* channels= */ 3,
                Byte.SIZE,
                ImageHeader.UPRIGHT,
                ImageHeader.SOUND,
                List.of());
    }
}

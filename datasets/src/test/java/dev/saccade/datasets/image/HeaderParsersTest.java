package dev.saccade.datasets.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;

import dev.saccade.core.structures.Size;

import org.apache.commons.imaging.Imaging;
import org.apache.commons.imaging.ImagingException;
import org.apache.commons.imaging.formats.png.PngImageMetadata;
import org.apache.commons.imaging.formats.tiff.constants.TiffTagConstants;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Why each image header has a parser here: files of which the maintained reader, Commons Imaging,
 * reports another size or orientation, or for whose claims it allocates memory. Where it agrees one
 * day, a parser can go.
 */
class HeaderParsersTest {

    private static final int CLAIMED = 1 << 26;

    /** Returns the bytes that this thread allocates; failures of the reader do not matter. */
    private static long allocated(Executable read) {
        ThreadMXBean threads = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);
        long thread = Thread.currentThread().getId();
        long before = threads.getThreadAllocatedBytes(thread);
        try {
            read.execute();
        } catch (Throwable e) {
            // Only the memory counts.
        }
        return threads.getThreadAllocatedBytes(thread) - before;
    }

    private static void assertClaimIsBelieved(byte[] file) {
        allocated(() -> Imaging.getImageSize(file));
        assertTrue(allocated(() -> Imaging.getImageSize(file)) >= CLAIMED);
        allocated(() -> ImageHeader.read("x", file));
        assertTrue(allocated(() -> ImageHeader.read("x", file)) < CLAIMED / 16);
    }

    @Test
    void jpegWithSeveralExifSegments() {
        byte[] jpeg =
                OddFiles.jpeg(
                        ImageFiles.jpeg(16, 8),
                        OddFiles.exifSegment(OddFiles.exif(6)),
                        OddFiles.exifSegment(OddFiles.exif(1)));
        assertThrows(ImagingException.class, () -> Imaging.getMetadata(jpeg));
        assertEquals(6, ImageHeader.read("x", jpeg).orientation());
    }

    /** OpenCV ignores a chunk whose checksum is wrong. */
    @Test
    void pngWithDamagedExif() throws IOException {
        byte[] png =
                OddFiles.png(
                        ImageFiles.png(16, 8, BufferedImage.TYPE_3BYTE_BGR),
                        OddFiles.damagedChunk("eXIf", OddFiles.exif(6)));
        PngImageMetadata metadata = (PngImageMetadata) Imaging.getMetadata(png);
        assertEquals(
                6,
                metadata.getExif().findField(TiffTagConstants.TIFF_TAG_ORIENTATION).getIntValue());
        assertEquals(1, ImageHeader.read("x", png).orientation());
    }

    @Test
    void pngThatClaimsALongChunk() {
        byte[] png = ImageFiles.png(16, 8, BufferedImage.TYPE_3BYTE_BGR);
        ByteBuffer.wrap(png).putInt(8, CLAIMED);
        assertClaimIsBelieved(png);
    }

    @Test
    void webpThatClaimsALongChunk() throws IOException {
        byte[] webp = getClass().getResourceAsStream("/images/animated.webp").readAllBytes();
        ByteBuffer.wrap(webp)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(4, 2 * CLAIMED)
                .putInt(16, CLAIMED);
        assertClaimIsBelieved(webp);
    }

    /** The same parser reads EXIF data; OpenCV turns a TIFF of tiles tile by tile. */
    @Test
    void tiffThatClaimsManyValues() {
        ByteOrder order = ByteOrder.LITTLE_ENDIAN;
        byte[] file =
                OddFiles.tiff(
                        order,
                        new byte[0],
                        OddFiles.entry(order, 0x100, OddFiles.LONG, 1, 16),
                        OddFiles.entry(order, 0x101, OddFiles.LONG, 1, 8),
                        OddFiles.entryTo(order, 0x111, OddFiles.LONG, 1 << 24, 8),
                        OddFiles.entryTo(order, 0x117, OddFiles.LONG, 1 << 24, 8));
        allocated(() -> ImageHeader.read("x", file));
        assertTrue(allocated(() -> ImageHeader.read("x", file)) < CLAIMED / 16);
    }

    @Test
    void bmpWhoseRowsBeginAtTheTop() throws IOException {
        byte[] bmp = ImageFiles.encode(ImageFiles.picture(16, 8, 5), "bmp");
        ByteBuffer.wrap(bmp).order(ByteOrder.LITTLE_ENDIAN).putInt(22, -8);
        assertEquals(-8, Imaging.getImageSize(bmp).height);
        assertEquals(new Size(8, 16), ImageHeader.read("x", bmp).size());
    }
}

package dev.saccade.datasets;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Size;

import org.apache.commons.imaging.ImageFormat;
import org.apache.commons.imaging.ImageFormats;
import org.apache.commons.imaging.Imaging;
import org.apache.commons.imaging.common.ImageMetadata;
import org.apache.commons.imaging.formats.jpeg.JpegImageMetadata;
import org.apache.commons.imaging.formats.png.PngImageMetadata;
import org.apache.commons.imaging.formats.tiff.TiffField;
import org.apache.commons.imaging.formats.tiff.TiffImageMetadata;
import org.apache.commons.imaging.formats.tiff.constants.TiffTagConstants;

import java.awt.Dimension;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;

/**
 * What an image file says about itself; known without decoding a pixel.
 *
 * @param kind what the file is by its first bytes, whatever its name ends in
 * @param stored the size in which the pixels lie in the file
 * @param orientation EXIF orientation, 1 to 8; 1 is upright
 * @param complete whether the file ends where an image of its kind ends
 */
record ImageHeader(Kind kind, Size stored, int orientation, boolean complete) {

    /** The kinds that are read. */
    enum Kind {
        JPEG,
        PNG,
        BMP,
        TIFF,
        WEBP
    }

    private static final Map<ImageFormat, Kind> KINDS =
            Map.of(
                    ImageFormats.JPEG, Kind.JPEG,
                    ImageFormats.PNG, Kind.PNG,
                    ImageFormats.BMP, Kind.BMP,
                    ImageFormats.TIFF, Kind.TIFF,
                    ImageFormats.WEBP, Kind.WEBP);

    private static final String EXPECTED = "expected a JPEG, PNG, BMP, TIFF or WebP image";
    private static final int UPRIGHT = 1;
    private static final int SHOWN_BYTES = 16;

    /**
     * Returns the header of a file.
     *
     * @throws SaccadeException if it is missing, empty, no image of a kind that is read, or has no
     *     readable header
     */
    static ImageHeader of(Path file) {
        return of(file.toString(), ImageReader.readBytes(file));
    }

    /**
     * Returns the header of a file.
     *
     * @param file its name, for messages
     * @param bytes all of it
     * @throws SaccadeException if it is empty, no image of a kind that is read, or has no readable
     *     header
     */
    static ImageHeader of(String file, byte[] bytes) {
        if (bytes.length == 0) {
            throw SaccadeException.user("%s: is empty (0 bytes), %s", file, EXPECTED);
        }
        // Commons Imaging promises nothing about hostile input, so any exception is a refusal.
        try {
            Kind kind = kind(file, bytes);
            Dimension dimension = Imaging.getImageSize(bytes);
            Size stored = new Size(dimension.height, dimension.width);
            if (dimension.height <= 0 || dimension.width <= 0) {
                throw SaccadeException.user("%s: %s header says %s pixels", file, kind, stored);
            }
            return new ImageHeader(
                    kind, stored, orientation(kind, bytes), ImageEnd.isComplete(kind, bytes));
        } catch (SaccadeException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            throw SaccadeException.user(
                    "%s: header cannot be read (%s), %s", file, e.getMessage(), EXPECTED);
        }
    }

    /** Returns the size after turning the image upright, as OpenCV does when it decodes. */
    Size size() {
        return turned()
                ? new Size(/* height= */ stored.width(), /* width= */ stored.height())
                : stored;
    }

    /** Returns whether turning the image upright exchanges its width and height. */
    boolean turned() {
        return orientation >= 5;
    }

    private static Kind kind(String file, byte[] bytes) throws IOException {
        ImageFormat format = Imaging.guessFormat(bytes);
        if (KINDS.containsKey(format)) {
            return KINDS.get(format);
        }
        if (format != ImageFormats.UNKNOWN) {
            throw SaccadeException.user("%s: is a %s image, %s", file, format.getName(), EXPECTED);
        }
        String start =
                new String(
                        bytes, 0, Math.min(SHOWN_BYTES, bytes.length), StandardCharsets.ISO_8859_1);
        throw SaccadeException.user(
                "%s: is no image, it starts with \"%s\", %s",
                file, start.replaceAll("[^ -~]", "."), EXPECTED);
    }

    private static int orientation(Kind kind, byte[] bytes) {
        if (kind != Kind.JPEG && kind != Kind.PNG) {
            return UPRIGHT;
        }
        try {
            TiffImageMetadata exif = exif(Imaging.getMetadata(bytes));
            TiffField field =
                    exif == null ? null : exif.findField(TiffTagConstants.TIFF_TAG_ORIENTATION);
            int value = field == null ? UPRIGHT : field.getIntValue();
            return value >= UPRIGHT && value <= 8 ? value : UPRIGHT;
        } catch (IOException | RuntimeException e) {
            // OpenCV, too, takes an image with unreadable EXIF data as it lies.
            return UPRIGHT;
        }
    }

    /** Returns the EXIF data, null if there is none. */
    private static TiffImageMetadata exif(ImageMetadata metadata) {
        if (metadata instanceof JpegImageMetadata jpeg) {
            return jpeg.getExif();
        }
        return metadata instanceof PngImageMetadata png ? png.getExif() : null;
    }
}

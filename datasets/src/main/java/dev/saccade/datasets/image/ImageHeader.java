package dev.saccade.datasets.image;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Size;

import org.apache.commons.imaging.ImageFormat;
import org.apache.commons.imaging.ImageFormats;
import org.apache.commons.imaging.Imaging;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What an image file says about itself; known without decoding a pixel, and without believing a
 * length: nothing is allocated for what a file claims, and every step leads on in it.
 *
 * <p>This alone decides how an image is turned; decoders are not asked. The orientation is the
 * first value of the first such entry of the first EXIF data that a JPEG has before its pixels, or
 * a PNG in a chunk {@code eXIf} with the right checksum, or of the first directory of a TIFF; of
 * any type of integers. What cannot be read, or is not 1 to 8, is upright. For usual files this is
 * what {@code cv2} does, for odd ones what careful viewers and Pillow's {@code exif_transpose} do.
 * As in {@code cv2}, XMP, the raw profiles of ImageMagick in PNG, and the EXIF data of WebP turn
 * nothing; the last are reported.
 *
 * @param kind what the file is by its first bytes, whatever its name ends in
 * @param storedSize the size in which the pixels lie in the file
 * @param channels how many numbers a pixel has; 1 if they are indices of a palette
 * @param bits how many bits such a number has
 * @param orientation EXIF orientation, 1 to 8; 1 is upright
 * @param fault why there is no decoding it, such as that its end is missing; empty if nothing is
 *     seen without decoding
 * @param warnings what of the file is not read or was completed, such as other pages
 */
public record ImageHeader(
        Kind kind,
        Size storedSize,
        int channels,
        int bits,
        int orientation,
        String fault,
        List<String> warnings) {

    /** The kinds that are read. */
    public enum Kind {
        JPEG,
        PNG,
        BMP,
        TIFF,
        WEBP
    }

    static final int UPRIGHT = 1;
    static final String SOUND = "";
    static final String TRUNCATED = "is truncated, its end is missing; copy or download it again";

    static final String CMYK = "is CMYK, it is converted without its color profile";

    private static final int CMYK_CHANNELS = 4;

    private static final Map<ImageFormat, Kind> KINDS =
            Map.of(
                    ImageFormats.JPEG, Kind.JPEG,
                    ImageFormats.PNG, Kind.PNG,
                    ImageFormats.BMP, Kind.BMP,
                    ImageFormats.TIFF, Kind.TIFF,
                    ImageFormats.WEBP, Kind.WEBP);

    private static final String EXPECTED = "expected a JPEG, PNG, BMP, TIFF or WebP image";
    private static final int SHOWN_BYTES = 16;

    /**
     * Returns the header of a file.
     *
     * @throws SaccadeException if it is missing, empty, no image of a kind that is read, or has no
     *     readable header
     */
    public static ImageHeader read(Path file) {
        return read(file.toString(), ImageReader.readBytes(file));
    }

    /**
     * Returns the header of a file.
     *
     * @param file its name, for messages
     * @param bytes all of it
     * @throws SaccadeException if it is empty, no image of a kind that is read, or has no readable
     *     header
     */
    public static ImageHeader read(String file, byte[] bytes) {
        if (bytes.length == 0) {
            throw SaccadeException.user("%s: is empty (0 bytes), %s", file, EXPECTED);
        }
        Kind kind = kind(file, bytes);
        ImageHeader header;
        try {
            header =
                    switch (kind) {
                        case JPEG -> JpegSegments.header(bytes);
                        case PNG -> PngChunks.header(bytes);
                        case BMP -> BmpHeader.read(bytes);
                        case TIFF -> TiffDirectory.header(bytes);
                        case WEBP -> WebpChunks.header(bytes);
                    };
        } catch (RuntimeException e) {
            boolean outside = !(e instanceof IllegalArgumentException);
            String reason = outside ? "it leads out of the file" : e.getMessage();
            throw SaccadeException.user(
                    "%s: header cannot be read (%s), %s", file, reason, EXPECTED);
        }
        if (header.storedSize.height() <= 0 || header.storedSize.width() <= 0) {
            throw SaccadeException.user(
                    "%s: %s header says %s pixels", file, kind, header.storedSize);
        }
        return header.withColorWarnings();
    }

    private ImageHeader withColorWarnings() {
        List<String> all = new ArrayList<>(warnings);
        if (kind == Kind.JPEG && channels == CMYK_CHANNELS) {
            all.add(CMYK);
        } else if (bits > Byte.SIZE) {
            all.add("has more than 8 bits a channel, the lower ones are dropped");
        }
        return new ImageHeader(
                kind, storedSize, channels, bits, orientation, fault, List.copyOf(all));
    }

    /** Returns the size after turning the image upright. */
    public Size size() {
        return isTransposed()
                ? new Size(/* height= */ storedSize.width(), /* width= */ storedSize.height())
                : storedSize;
    }

    /** Returns whether turning the image upright exchanges its width and height. */
    public boolean isTransposed() {
        return orientation >= 5;
    }

    private static Kind kind(String file, byte[] bytes) {
        ImageFormat format = format(bytes);
        if (KINDS.containsKey(format)) {
            return KINDS.get(format);
        }
        Optional<FileSignature> signature = FileSignature.of(bytes);
        if (signature.map(FileSignature::isImage).orElse(false)) {
            throw SaccadeException.user(
                    "%s: is %s, %s; %s",
                    file, signature.get().name(), EXPECTED, signature.get().advice());
        }
        if (format != ImageFormats.UNKNOWN) {
            throw SaccadeException.user(
                    "%s: is a %s image, %s; convert it to JPEG or PNG",
                    file, format.getName(), EXPECTED);
        }
        String start =
                new String(
                        bytes, 0, Math.min(SHOWN_BYTES, bytes.length), StandardCharsets.ISO_8859_1);
        throw SaccadeException.user(
                "%s: is no image, it starts with \"%s\", %s%s",
                file,
                start.replaceAll("[^ -~]", "."),
                EXPECTED,
                signature
                        .map(known -> "; it is " + known.name() + ", " + known.advice())
                        .orElse(""));
    }

    private static ImageFormat format(byte[] bytes) {
        try {
            return Imaging.guessFormat(bytes);
        } catch (IOException | RuntimeException e) {
            return ImageFormats.UNKNOWN;
        }
    }
}

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
 * Metadata of an image file, read without decoding pixels. Lengths in the file are not trusted: no
 * memory is allocated for them, and every step moves forward in the file.
 *
 * <p>Only this class determines the orientation; decoders do not. The first value counts, from the
 * first EXIF segment before the pixels of a JPEG, the first {@code eXIf} chunk of a PNG with a
 * valid checksum, or the first directory of a TIFF. Unreadable values and values outside of 1 to 8
 * mean upright. This equals {@code cv2} for usual files, and careful viewers and Pillow's {@code
 * exif_transpose} for unusual ones. As in {@code cv2}, XMP, ImageMagick's raw profiles in PNG, and
 * EXIF data of WebP have no effect; EXIF data of WebP causes a warning.
 *
 * @param kind format according to the first bytes, regardless of the suffix
 * @param storedSize size of the stored pixels
 * @param channels values per pixel; 1 for palette indices
 * @param bits bits per value
 * @param orientation EXIF orientation, 1 to 8; 1 is upright
 * @param fault why decoding is impossible, such as a missing end; empty if no fault is known yet
 * @param warnings about ignored or missing parts of the file, such as further pages
 */
public record ImageHeader(
        Kind kind,
        Size storedSize,
        int channels,
        int bits,
        int orientation,
        String fault,
        List<String> warnings) {

    public enum Kind {
        JPEG,
        PNG,
        BMP,
        TIFF,
        WEBP,
        /**
         * A NumPy array, for {@link dev.saccade.datasets.image.PixelFormat}s other than 8-bit RGB.
         */
        NUMPY
    }

    static final int UPRIGHT = 1;
    static final String SOUND = "";
    static final String TRUNCATED = "is truncated; copy or download it again";

    static final String CMYK = "is CMYK; converted without its color profile";

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

    /** Reads the header of a file; see {@link #read(String, byte[])}. */
    public static ImageHeader read(Path file) {
        return read(file.toString(), ImageReader.readBytes(file));
    }

    /**
     * Reads the header of a file.
     *
     * @param file name of the file, for messages
     * @param bytes the whole file
     * @throws SaccadeException if the file is empty, not a supported image, or has no valid header
     */
    public static ImageHeader read(String file, byte[] bytes) {
        if (bytes.length == 0) {
            throw SaccadeException.user("%s: is empty (0 bytes); %s", file, EXPECTED);
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
                        case NUMPY -> NumpyFile.header(bytes);
                    };
        } catch (RuntimeException e) {
            boolean outside = !(e instanceof IllegalArgumentException);
            String reason = outside ? "it points outside of the file" : e.getMessage();
            throw SaccadeException.user(
                    "%s: header cannot be read (%s); %s", file, reason, EXPECTED);
        }
        if (header.storedSize.height() <= 0 || header.storedSize.width() <= 0) {
            throw SaccadeException.user(
                    "%s: %s header states a size of %s pixels", file, kind, header.storedSize);
        }
        return header.withColorWarnings();
    }

    private ImageHeader withColorWarnings() {
        List<String> all = new ArrayList<>(warnings);
        if (kind == Kind.JPEG && channels == CMYK_CHANNELS) {
            all.add(CMYK);
        } else if (bits > Byte.SIZE) {
            all.add("has more than 8 bits per channel; the lower bits are dropped");
        }
        return new ImageHeader(
                kind, storedSize, channels, bits, orientation, fault, List.copyOf(all));
    }

    public Size size() {
        return isTransposed()
                ? new Size(/* height= */ storedSize.width(), /* width= */ storedSize.height())
                : storedSize;
    }

    /** Returns whether the orientation exchanges width and height. */
    public boolean isTransposed() {
        return orientation >= 5;
    }

    private static Kind kind(String file, byte[] bytes) {
        if (NumpyFile.isNumpy(bytes)) {
            return Kind.NUMPY;
        }
        ImageFormat format = format(bytes);
        if (KINDS.containsKey(format)) {
            return KINDS.get(format);
        }
        Optional<FileSignature> signature = FileSignature.of(bytes);
        if (signature.map(FileSignature::isImage).orElse(false)) {
            throw SaccadeException.user(
                    "%s: is %s; %s; %s",
                    file, signature.get().name(), EXPECTED, signature.get().advice());
        }
        if (format != ImageFormats.UNKNOWN) {
            throw SaccadeException.user(
                    "%s: is a %s image; %s; convert it to JPEG or PNG",
                    file, format.getName(), EXPECTED);
        }
        String start =
                new String(
                        bytes, 0, Math.min(SHOWN_BYTES, bytes.length), StandardCharsets.ISO_8859_1);
        throw SaccadeException.user(
                "%s: is not an image, it starts with \"%s\"; %s%s",
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

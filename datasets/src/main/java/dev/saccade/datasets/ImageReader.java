package dev.saccade.datasets;

import dev.saccade.core.SaccadeException;

import org.opencv.core.CvException;
import org.opencv.core.Mat;
import org.opencv.core.MatOfByte;
import org.opencv.imgcodecs.Imgcodecs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * The only place where pixels are decoded: JPEG, PNG, BMP, TIFF and WebP to BGR bytes by OpenCV, so
 * that they equal those of detectors that read with {@code cv2}.
 *
 * <p>Grey is replicated, 16 bits become 8, palettes become colours, CMYK is converted, alpha is
 * dropped. The EXIF orientation of JPEG and PNG is applied. The header is read first, and nothing
 * is decoded that is no complete image or has more than 178 million pixels.
 */
public final class ImageReader {

    /** Twice what Pillow warns of; its own limit against decompression bombs. */
    private static final long MOST_PIXELS = 178_956_970;

    private static final long MOST_BYTES = 1L << 30;

    private ImageReader() {}

    /**
     * Returns the pixels of a file, [H, W, 3] BGR uint8; the caller frees them.
     *
     * @throws SaccadeException if the file is missing, no image of a kind that is read, truncated,
     *     enormous or damaged; names the file
     */
    public static Mat read(Path file) {
        return read(file.toString(), readBytes(file));
    }

    /** Returns the pixels of a file whose bytes are there; see {@link #read(Path)}. */
    static Mat read(String file, byte[] bytes) {
        ImageHeader header = ImageHeader.of(file, bytes);
        check(file, header);
        return decode(file, header, bytes);
    }

    /** Refuses what would decode to something wrong, or to too much. */
    static void check(String file, ImageHeader header) {
        if (header.stored().area() > MOST_PIXELS) {
            throw SaccadeException.user(
                    "%s: %s of %s pixels, at most %d million are decoded",
                    file, header.kind(), header.stored(), MOST_PIXELS / 1_000_000);
        }
        if (!header.complete()) {
            throw SaccadeException.user(
                    "%s: %s is truncated, its end is missing; copy or download it again",
                    file, header.kind());
        }
    }

    static byte[] readBytes(Path file) {
        try {
            long length = Files.size(file);
            if (length > MOST_BYTES) {
                throw SaccadeException.user(
                        "%s: %d bytes, an image of at most %d expected", file, length, MOST_BYTES);
            }
            return Files.readAllBytes(file);
        } catch (NoSuchFileException e) {
            throw SaccadeException.user("%s: no such file", file);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
    }

    static Mat decode(String file, ImageHeader header, byte[] bytes) {
        OpenCv.load();
        MatOfByte encoded = new MatOfByte(bytes);
        try {
            Mat image = Imgcodecs.imdecode(encoded, Imgcodecs.IMREAD_COLOR);
            if (image.empty()) {
                throw SaccadeException.user(
                        "%s: %s is damaged and cannot be decoded", file, header.kind());
            }
            return image;
        } catch (CvException e) {
            throw SaccadeException.user(
                    "%s: %s is damaged and cannot be decoded: %s",
                    file, header.kind(), e.getMessage());
        } finally {
            encoded.release();
        }
    }
}

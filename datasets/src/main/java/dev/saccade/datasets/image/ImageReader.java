package dev.saccade.datasets.image;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.OutOfMemory;
import dev.saccade.core.RegularFile;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;

import org.opencv.core.Core;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.MatOfByte;
import org.opencv.core.MatOfInt;
import org.opencv.imgcodecs.Imgcodecs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Decodes JPEG, PNG, BMP, TIFF and WebP to BGR bytes with OpenCV, so that pixels equal {@code
 * cv2}'s.
 *
 * <p>Gray is replicated, 16 bits become 8, palettes become colors, CMYK is converted, alpha is
 * dropped. JPEG, PNG and TIFF are rotated upright by the EXIF orientation of {@link ImageHeader}:
 * pixels are decoded as stored and then rotated, so the header always describes the pixels.
 * Truncated images are rejected, as are images of more than 178 million pixels, unless {@link
 * ImageSource#maxPixels} allows more.
 */
public final class ImageReader {

    static final int MAX_BYTES = 1 << 30;

    /** A 16-bit image is nearly black if all values, reduced to 8 bits, are below this. */
    private static final int NEARLY_BLACK = 16;

    private static final int MAX_TIFF_CHANNELS = 4;
    private static final int MAX_TIFF_BITS = 16;

    private static final int AS_STORED =
            Imgcodecs.IMREAD_COLOR | Imgcodecs.IMREAD_IGNORE_ORIENTATION;

    private static final int GRAY_AND_ALPHA = 2;

    private static final int LEFT_TO_RIGHT = 1;

    private static final int TOP_TO_BOTTOM = 0;
    private static final int BOTH = -1;

    private ImageReader() {}

    /**
     * Decodes a file to [H, W, 3] BGR uint8; the caller frees the pixels. Does not check each block
     * of a JPEG, which would take at least a third of the decoding time.
     *
     * @throws SaccadeException if the file is missing, not a supported image, truncated, too large
     *     or damaged; names the file
     */
    public static Mat read(Path file) {
        byte[] bytes = readBytes(file);
        ImageHeader header = ImageHeader.read(file.toString(), bytes);
        check(file.toString(), header);
        return decode(file.toString(), header, bytes, Optional.empty());
    }

    /**
     * Like {@link #read(Path)}; throws if the upright size is not as declared. A JPEG without an
     * orientation is decoded at a fraction of its size, rounded up, like with Pillow's {@code
     * draft}.
     *
     * @param reduction 1, 2, 4 or 8
     */
    public static Mat read(Path file, Size declared, int reduction) {
        String name = file.toString();
        byte[] bytes = readBytes(file);
        ImageHeader header = ImageHeader.read(name, bytes);
        check(name, header);
        if (!header.size().equals(declared)) {
            throw SaccadeException.user(
                    "%s: is %s (height x width, upright), but declared as %s",
                    name, header.size(), declared);
        }
        boolean reduces =
                header.kind() == ImageHeader.Kind.JPEG
                        && header.orientation() == ImageHeader.UPRIGHT
                        && header.warnings().isEmpty();
        if (reduction == 1 || !reduces) {
            return decode(name, header, bytes, Optional.empty());
        }
        int flag =
                switch (reduction) {
                    case 2 -> Imgcodecs.IMREAD_REDUCED_COLOR_2;
                    case 4 -> Imgcodecs.IMREAD_REDUCED_COLOR_4;
                    case 8 -> Imgcodecs.IMREAD_REDUCED_COLOR_8;
                    default -> throw new IllegalArgumentException("reduction: got " + reduction);
                };
        return requireSize(
                name,
                header,
                declared.dividedBy(reduction),
                decodePixels(name, header, bytes, flag | Imgcodecs.IMREAD_IGNORE_ORIENTATION));
    }

    /** Like {@link #read(Path)}, for a file in memory; also checks each block of a JPEG. */
    static Mat read(String file, byte[] bytes, long maxPixels, Consumer<String> warnings) {
        ImageHeader header = ImageHeader.read(file, bytes);
        check(file, header, maxPixels);
        header.warnings().forEach(warnings);
        return decode(file, header, bytes, warnings);
    }

    /** Throws if an image cannot be decoded to 8-bit RGB, or is too large. */
    public static void check(String file, ImageHeader header) {
        check(file, header, ImageInfo.MAX_PIXELS);
    }

    /** Throws if an image of any channels and bits cannot be read, or is too large. */
    public static void checkFile(String file, ImageHeader header) {
        checkFile(file, header, ImageInfo.MAX_PIXELS);
    }

    private static void checkFile(String file, ImageHeader header, long maxPixels) {
        if (header.storedSize().area() > maxPixels) {
            throw SaccadeException.user(
                            "%s: %s of %dx%d pixels exceeds the limit of %d million; raise the"
                                    + " limit (ImageSource.maxPixels), or cut the image into"
                                    + " tiles",
                            file,
                            header.kind(),
                            header.storedSize().width(),
                            header.storedSize().height(),
                            maxPixels / 1_000_000)
                    .withSettings("max-pixels");
        }
        if (!header.fault().isEmpty()) {
            throw SaccadeException.user("%s: %s %s", file, header.kind(), header.fault());
        }
    }

    private static void check(String file, ImageHeader header, long maxPixels) {
        checkFile(file, header, maxPixels);
        if (header.kind() == ImageHeader.Kind.NUMPY) {
            throw SaccadeException.user(
                    "%s: is a NumPy array of %d channels; set data.channels and data.range",
                    file, header.channels());
        }
        if (header.kind() == ImageHeader.Kind.TIFF
                && (header.channels() > MAX_TIFF_CHANNELS || header.bits() > MAX_TIFF_BITS)) {
            throw SaccadeException.user(
                    "%s: TIFF of %d x %d bits per pixel, expected at most %d x %d; set"
                            + " data.channels and data.range, or save the relevant channels as"
                            + " 8-bit RGB",
                    file, header.channels(), header.bits(), MAX_TIFF_CHANNELS, MAX_TIFF_BITS);
        }
    }

    /**
     * Returns the bytes of a file; throws if it is missing or not a regular file. The file may be
     * in a {@link TarArchive}, such as {@code images.tar/1.jpg}.
     */
    public static byte[] readBytes(Path file) {
        Optional<Path> archive = TarArchive.containing(file);
        if (archive.isPresent()) {
            return readBytes(file.toString(), () -> TarArchive.read(archive.get(), file));
        }
        return readBytes(file.toString(), () -> RegularFile.read(file, MAX_BYTES));
    }

    /** Returns the bytes of a stream; throws if it exceeds the size limit of files. */
    static byte[] readBytes(String name, InputStream stream) {
        return readBytes(name, () -> RegularFile.read(name, stream, MAX_BYTES));
    }

    private static byte[] readBytes(String name, ByteSource content) {
        try {
            return content.read();
        } catch (NoSuchFileException e) {
            throw SaccadeException.user("%s: no such file", name);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", name, e.getMessage());
        } catch (OutOfMemoryError e) {
            throw refusal(name, "cannot be read", e);
        }
    }

    private interface ByteSource {
        byte[] read() throws IOException;
    }

    /** Returns the exception for an unusable file, or for exhausted memory. */
    static SaccadeException refusal(String file, String fault, Throwable failure) {
        return SaccadeException.user(
                "%s: %s",
                file,
                OutOfMemory.READING
                        .of(failure)
                        .map(Throwable::getMessage)
                        .orElse(fault + ": " + failure.getMessage()));
    }

    /**
     * Decodes a file that has passed the {@link #check} to [H, W, 3] BGR uint8; the caller frees
     * the pixels.
     *
     * @param warnings receives warnings that only decoding reveals, without the name of the file
     * @throws SaccadeException if the image is damaged; names the file
     */
    public static Mat decode(
            String file, ImageHeader header, byte[] bytes, Consumer<String> warnings) {
        return decode(file, header, bytes, Optional.of(warnings));
    }

    private static Mat decode(
            String file, ImageHeader header, byte[] bytes, Optional<Consumer<String>> warnings) {
        Mat image =
                switch (header.kind()) {
                    case JPEG ->
                            warnings.isEmpty() && header.warnings().isEmpty()
                                    ? decodePixels(file, header, bytes)
                                    : decodeJpeg(file, header, bytes, warnings.orElse(any -> {}));
                    case PNG -> decodePng(file, header, bytes);
                    case WEBP ->
                            new WebpChunks(bytes).isAnimated()
                                    ? firstFrame(file, header, bytes)
                                    : decodePixels(file, header, bytes);
                    default -> decodePixels(file, header, bytes);
                };
        requireSize(file, header, header.storedSize(), image);
        if (header.bits() > Byte.SIZE && Core.norm(image, Core.NORM_INF) < NEARLY_BLACK) {
            warnings.ifPresent(
                    receiver ->
                            receiver.accept(
                                    "is nearly black: all values are below 4096 of 65535; set"
                                            + " data.range, or scale them to the full 16 or 8"
                                            + " bits"));
        }
        return upright(image, header.orientation());
    }

    /**
     * Decodes PNG, JPEG, BMP or WebP to the stored channels and 8 or 16 bits, upright; colors are
     * BGR or BGRA. The caller frees the pixels.
     */
    public static Mat readStored(String file, byte[] bytes) {
        ImageHeader header = ImageHeader.read(file, bytes);
        check(file, header);
        Mat image;
        if (header.kind() == ImageHeader.Kind.PNG) {
            try {
                PngChunks.check(bytes);
                checkArgument(
                        PngPixels.check(bytes, header) == 0,
                        "it contains more data than its %s pixels",
                        header.storedSize());
                byte[] pixels = PngChunks.pixelsOnly(bytes);
                image = decodePixels(file, header, pixels, Imgcodecs.IMREAD_UNCHANGED);
                if (header.channels() == GRAY_AND_ALPHA) {
                    image = grayAndAlpha(image);
                }
            } catch (IllegalArgumentException | OutOfMemoryError e) {
                throw damaged(file, header, e);
            }
        } else {
            image = decodePixels(file, header, bytes, Imgcodecs.IMREAD_UNCHANGED);
        }
        return upright(requireSize(file, header, header.storedSize(), image), header.orientation());
    }

    /** Returns the two channels that OpenCV has decoded to four. */
    private static Mat grayAndAlpha(Mat image) {
        Mat pair = new Mat(image.rows(), image.cols(), CvType.makeType(image.depth(), 2));
        Core.mixChannels(List.of(image), List.of(pair), new MatOfInt(0, 0, 3, 1));
        image.release();
        return pair;
    }

    private static Mat requireSize(String file, ImageHeader header, Size expected, Mat image) {
        Size size = new Size(image.rows(), image.cols());
        if (!size.equals(expected)) {
            image.release();
            throw SaccadeException.user(
                    "%s: %s is damaged: its header states %s pixels, but %s were decoded; copy or"
                            + " download it again",
                    file, header.kind(), expected, size);
        }
        return image;
    }

    private static Mat firstFrame(String file, ImageHeader header, byte[] bytes) {
        try {
            WebpChunks.Frame frame = new WebpChunks(bytes).firstFrame(header.storedSize());
            Mat pixels = decodePixels(file, header, frame.still());
            try {
                return frame.on(header.storedSize(), pixels);
            } finally {
                pixels.release();
            }
        } catch (IllegalArgumentException e) {
            throw damaged(file, header, e);
        }
    }

    private static Mat decodePixels(String file, ImageHeader header, byte[] bytes) {
        return decodePixels(file, header, bytes, AS_STORED);
    }

    private static Mat decodePixels(String file, ImageHeader header, byte[] bytes, int flags) {
        OpenCv.load();
        MatOfByte encoded = new MatOfByte(bytes);
        Mat image;
        try {
            if (header.kind() == ImageHeader.Kind.TIFF) {
                TiffPixels.check(bytes);
                TiffDirectory.makeUpright(bytes, encoded);
            }
            image = Imgcodecs.imdecode(encoded, flags);
        } catch (RuntimeException e) {
            throw damaged(file, header, e);
        } finally {
            encoded.release();
        }
        if (image.empty()) {
            throw SaccadeException.user(
                    "%s: %s is damaged and cannot be decoded", file, header.kind());
        }
        return image;
    }

    static SaccadeException damaged(String file, ImageHeader header, Throwable e) {
        return refusal(file, header.kind() + " is damaged and cannot be decoded", e);
    }

    /**
     * Decodes a JPEG, which must have all blocks. OpenCV prints warnings about bytes between
     * blocks, so the JDK's decoder decodes such files.
     */
    private static Mat decodeJpeg(
            String file, ImageHeader header, byte[] bytes, Consumer<String> warnings) {
        JpegBlocks blocks = JpegBlocks.read(JpegSegments.of(bytes));
        if (!blocks.fault().isEmpty()) {
            throw SaccadeException.user("%s: JPEG %s", file, blocks.fault());
        }
        if (blocks.spare() > 0) {
            warnings.accept(
                    Text.format(
                            "has %d extraneous bytes, which may indicate damage; inspect the image",
                            blocks.spare()));
        }
        if (blocks.isBlurred()) {
            warnings.accept("lacks the last scans of a progressive JPEG, so it is blurred");
        }
        return blocks.hasSpareInside()
                ? BufferedPixels.decode(file, header.kind(), blocks.clean(), BufferedPixels::bgr)
                : decodePixels(file, header, blocks.clean());
    }

    /**
     * Decodes a PNG. libpng prints warnings about bytes after the pixels, so the JDK's decoder
     * decodes such files.
     */
    private static Mat decodePng(String file, ImageHeader header, byte[] bytes) {
        try {
            PngChunks.check(bytes);
            long spare = PngPixels.check(bytes, header);
            if (spare > PngPixels.MAX_SPARE) {
                throw SaccadeException.user(
                        "%s: PNG contains more data than its %s pixels; save it again",
                        file, header.storedSize());
            }
            byte[] pixels = PngChunks.pixelsOnly(bytes);
            return spare > 0
                    ? BufferedPixels.decode(file, header.kind(), pixels, BufferedPixels::bgr)
                    : decodePixels(file, header, pixels);
        } catch (IllegalArgumentException | OutOfMemoryError e) {
            throw damaged(file, header, e);
        }
    }

    private static Mat upright(Mat image, int orientation) {
        Mat turned = image;
        if (orientation >= 5) {
            turned = new Mat();
            Core.transpose(image, turned);
            image.release();
        }
        switch (orientation) {
            case 2, 6 -> Core.flip(turned, turned, LEFT_TO_RIGHT);
            case 3, 7 -> Core.flip(turned, turned, BOTH);
            case 4, 8 -> Core.flip(turned, turned, TOP_TO_BOTTOM);
            default -> {}
        }
        return turned;
    }
}

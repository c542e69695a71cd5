package dev.saccade.datasets.image;

import static java.util.Objects.requireNonNull;

import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.ImageInfo;

import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.imgproc.Imgproc;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.awt.image.BufferedImage;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * An image to predict: a file, its bytes, or decoded pixels.
 *
 * <p>Except for streams, nothing is read in advance. {@link ImageReader} decodes files and bytes,
 * upright; decoded pixels are used as they are.
 */
public final class ImageSource {

    private static final Logger LOG = LoggerFactory.getLogger(ImageSource.class);

    private final String name;
    private final Optional<Supplier<byte[]>> encoded;
    private final Pixels pixels;
    private final Optional<Path> file;
    private final long maxPixels;
    private final Consumer<String> warnings;

    /** Reads 8-bit RGB, or, given a format, float32. */
    private interface Pixels {
        Mat read(PixelFormat format, long maxPixels, Consumer<String> warnings);
    }

    private ImageSource(
            String name,
            Optional<Supplier<byte[]>> encoded,
            Pixels pixels,
            Optional<Path> file,
            long maxPixels,
            Consumer<String> warnings) {
        this.name = name;
        this.encoded = encoded;
        this.pixels = pixels;
        this.file = file;
        this.maxPixels = maxPixels;
        this.warnings = warnings;
    }

    private static ImageSource encoded(String name, Supplier<byte[]> bytes) {
        return source(
                name,
                Optional.of(bytes),
                (format, most, warnings) ->
                        format.isRgb8()
                                ? ImageReader.read(name, bytes.get(), most, warnings)
                                : PixelReader.read(name, bytes.get(), format, most, warnings));
    }

    private static ImageSource source(
            String name, Optional<Supplier<byte[]>> encoded, Pixels pixels) {
        return source(name, encoded, pixels, Optional.empty());
    }

    private static ImageSource source(
            String name, Optional<Supplier<byte[]>> encoded, Pixels pixels, Optional<Path> file) {
        return new ImageSource(
                name,
                encoded,
                pixels,
                file,
                ImageInfo.MAX_PIXELS,
                warning -> LOG.warn("{}: {}", Printable.line(name), warning));
    }

    /**
     * Returns this source with another limit on the number of pixels to decode; the default is
     * {@link ImageInfo#MAX_PIXELS}. A pixel takes three bytes, and three more in each drawn copy.
     */
    public ImageSource maxPixels(long most) {
        return new ImageSource(name, encoded, pixels, file, most, warnings);
    }

    /** Returns this source with a receiver of warnings, by default the log; they name no file. */
    public ImageSource warnings(Consumer<String> receiver) {
        return new ImageSource(
                name, encoded, pixels, file, maxPixels, requireNonNull(receiver, "receiver"));
    }

    /**
     * Returns this source for drawing: {@link #read()} shows the {@linkplain Composite composite}
     * of images of another format than 8-bit RGB.
     */
    public ImageSource display(PixelFormat shown) {
        if (shown.isRgb8()) {
            return this;
        }
        Pixels composite =
                (format, most, receiver) -> {
                    if (!format.isRgb8()) {
                        return pixels.read(format, most, receiver);
                    }
                    // Warnings are reported when the model reads the image.
                    Mat values = pixels.read(shown, most, warning -> {});
                    try {
                        return Composite.of(values, shown);
                    } finally {
                        values.release();
                    }
                };
        return new ImageSource(name, encoded, composite, file, maxPixels, warnings);
    }

    public static ImageSource of(Path file) {
        requireNonNull(file, "file");
        String name = file.toString();
        return source(
                name,
                Optional.of(() -> ImageReader.readBytes(file)),
                (format, most, warnings) ->
                        format.isRgb8()
                                ? ImageReader.read(
                                        name, ImageReader.readBytes(file), most, warnings)
                                : PixelReader.read(file, format, most, warnings),
                Optional.of(file));
    }

    /** Creates a source from the bytes of a file, such as an upload; does not copy them. */
    public static ImageSource of(byte[] encoded) {
        return of("image of " + encoded.length + " bytes", encoded);
    }

    /** Creates a source from the bytes of a file, with a name for messages; does not copy them. */
    public static ImageSource of(String name, byte[] encoded) {
        requireNonNull(encoded, "encoded");
        return encoded(name, () -> encoded);
    }

    /** Creates a source from a stream, such as standard input; reads but does not close it. */
    public static ImageSource read(String name, InputStream encoded) {
        return of(name, ImageReader.readBytes(name, encoded));
    }

    /**
     * Creates a source from a JDK image, which is converted like files: 16 bits become 8, palettes
     * become colors, alpha is dropped. The image must not change until it has been read.
     */
    public static ImageSource of(BufferedImage image) {
        requireNonNull(image, "image");
        String name = "BufferedImage of " + image.getHeight() + "x" + image.getWidth();
        return source(
                name,
                Optional.empty(),
                (format, most, warnings) -> {
                    Mat bgr = BufferedPixels.bgr(image);
                    if (format.isRgb8()) {
                        return bgr;
                    }
                    try {
                        return PixelReader.read(name, bgr, format);
                    } finally {
                        bgr.release();
                    }
                });
    }

    /**
     * Creates a source from an OpenCV image: BGR, BGRA (alpha is dropped) or gray, uint8; or values
     * as stored, for models with another {@link PixelFormat}, three channels as BGR. The caller
     * frees it after use.
     */
    public static ImageSource of(Mat image) {
        requireNonNull(image, "image");
        return of("Mat of " + image.rows() + "x" + image.cols(), image);
    }

    /** Creates a source from an OpenCV image, with a name for messages; see {@link #of(Mat)}. */
    public static ImageSource of(String name, Mat image) {
        requireNonNull(image, "image");
        return source(
                name,
                Optional.empty(),
                (format, most, warnings) ->
                        format.isRgb8() ? bgr(name, image) : PixelReader.read(name, image, format));
    }

    private static Mat bgr(String name, Mat image) {
        if (image.empty()) {
            throw SaccadeException.user("%s: has no pixels; check that its file was read", name);
        }
        int type = image.type();
        if (type == CvType.CV_8UC3) {
            return image.rowRange(0, image.rows());
        }
        if (type != CvType.CV_8UC1 && type != CvType.CV_8UC4) {
            throw SaccadeException.user(
                    "%s: is %s; expected 8 bits per channel as BGR, BGRA or gray (use Mat.convertTo"
                            + " and Imgproc.cvtColor)",
                    name, CvType.typeToString(type));
        }
        Mat bgr = new Mat();
        boolean gray = type == CvType.CV_8UC1;
        Imgproc.cvtColor(image, bgr, gray ? Imgproc.COLOR_GRAY2BGR : Imgproc.COLOR_BGRA2BGR);
        return bgr;
    }

    public String name() {
        return name;
    }

    /**
     * Returns the header of a file or its bytes; empty for decoded pixels.
     *
     * @throws SaccadeException if the source is not an image; names the source
     */
    public Optional<ImageHeader> header() {
        return encoded.map(bytes -> ImageHeader.read(name, bytes.get()));
    }

    /**
     * Returns the pixels, [H, W, 3] BGR uint8. The caller frees them, and must not change them, as
     * they may be shared.
     *
     * @throws SaccadeException if the source is not a usable image; names the source
     */
    public Mat read() {
        return read(PixelFormat.RGB);
    }

    /** Returns the pixels of a format; see {@link #read()} and {@link PixelReader}. */
    public Mat read(PixelFormat format) {
        return pixels.read(format, maxPixels, warnings);
    }

    /**
     * Opens a file to read it in windows, which the caller closes; empty for other sources and for
     * 8-bit RGB, which is decoded as a whole.
     *
     * @throws SaccadeException if the file cannot be used or has other channels; names the file
     */
    public Optional<PixelFile> open(PixelFormat format) {
        if (file.isEmpty() || format.isRgb8()) {
            return Optional.empty();
        }
        PixelFile opened = PixelFile.open(file.get(), format);
        try {
            opened.requireAtMost(maxPixels);
            return Optional.of(opened);
        } catch (SaccadeException e) {
            opened.close();
            throw e;
        }
    }

    /** Passes a warning to the receiver; it should not name the file. */
    public void warn(String warning) {
        warnings.accept(warning);
    }
}

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
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A photograph that somebody has at hand: a file, the bytes of one, or pixels already decoded.
 *
 * <p>But for streams, nothing is read before it is needed. Files and bytes are decoded by {@link
 * ImageReader}, upright; pixels are taken as they lie.
 */
public final class ImageSource {

    private static final Logger LOG = LoggerFactory.getLogger(ImageSource.class);

    private final String name;
    private final Pixels pixels;
    private final long maxPixels;
    private final Consumer<String> warnings;

    /** Decodes an image of at most some pixels. */
    private interface Pixels {
        Mat read(long maxPixels, Consumer<String> warnings);
    }

    private ImageSource(String name, Pixels pixels, long maxPixels, Consumer<String> warnings) {
        this.name = name;
        this.pixels = pixels;
        this.maxPixels = maxPixels;
        this.warnings = warnings;
    }

    private static ImageSource encoded(String name, Pixels pixels) {
        return new ImageSource(
                name,
                pixels,
                ImageInfo.MAX_PIXELS,
                warning -> LOG.warn("{}: {}", Printable.line(name), warning));
    }

    private static ImageSource decoded(String name, Supplier<Mat> pixels) {
        return encoded(name, (most, warnings) -> pixels.get());
    }

    /**
     * Returns the same with another bound on what is decoded of files and bytes, in place of {@link
     * ImageInfo#MAX_PIXELS}; three bytes a pixel are needed, and as many for each picture of it.
     */
    public ImageSource maxPixels(long most) {
        return new ImageSource(name, pixels, most, warnings);
    }

    /**
     * Returns the same source with another receiver of warnings in place of the log: what of a file
     * is not read, such as further frames or the lower bits, or was completed.
     *
     * @param receiver of messages without the name of the file
     */
    public ImageSource warnings(Consumer<String> receiver) {
        return new ImageSource(name, pixels, maxPixels, requireNonNull(receiver, "receiver"));
    }

    /** Returns a file that {@link ImageReader} reads. */
    public static ImageSource of(Path file) {
        requireNonNull(file, "file");
        return encoded(
                file.toString(),
                (most, warnings) ->
                        ImageReader.read(
                                file.toString(), ImageReader.readBytes(file), most, warnings));
    }

    /** Returns the content of such a file, such as an upload; not copied. */
    public static ImageSource of(byte[] encoded) {
        return of("image of " + encoded.length + " bytes", encoded);
    }

    /**
     * Returns the content of such a file; not copied.
     *
     * @param name what messages call it
     */
    public static ImageSource of(String name, byte[] encoded) {
        requireNonNull(encoded, "encoded");
        return encoded(name, (most, warnings) -> ImageReader.read(name, encoded, most, warnings));
    }

    /**
     * Returns the content of such a file that comes through a stream, such as standard input. It is
     * read here, to its end, and not closed.
     *
     * @param name what messages call it
     * @throws SaccadeException if it cannot be read, or holds more than a file may
     */
    public static ImageSource read(String name, InputStream encoded) {
        return of(name, ImageReader.readBytes(name, encoded));
    }

    /**
     * Returns an image of Java's: 16 bits become 8, palettes become colors, alpha is dropped, as
     * when a file is read. It must not change until it has been used.
     */
    public static ImageSource of(BufferedImage image) {
        requireNonNull(image, "image");
        String name = "BufferedImage of " + image.getHeight() + "x" + image.getWidth();
        return decoded(name, () -> BufferedPixels.bgr(image));
    }

    /**
     * Returns an image of OpenCV's, in its order of channels: BGR, BGRA, whose alpha is dropped, or
     * gray, uint8. The caller still frees it, once it has been used.
     */
    public static ImageSource of(Mat image) {
        requireNonNull(image, "image");
        return of("Mat of " + image.rows() + "x" + image.cols(), image);
    }

    /**
     * Returns such an image of OpenCV's, which the caller still frees, too.
     *
     * @param name what messages call it
     */
    public static ImageSource of(String name, Mat image) {
        requireNonNull(image, "image");
        return decoded(name, () -> bgr(name, image));
    }

    private static Mat bgr(String name, Mat image) {
        if (image.empty()) {
            throw SaccadeException.user("%s: has no pixels; was its file read?", name);
        }
        int type = image.type();
        if (type == CvType.CV_8UC3) {
            return image.rowRange(0, image.rows());
        }
        if (type != CvType.CV_8UC1 && type != CvType.CV_8UC4) {
            throw SaccadeException.user(
                    "%s: is %s; expected 8 bits a channel in the order BGR, BGRA or gray"
                            + " (Mat.convertTo and Imgproc.cvtColor make it so)",
                    name, CvType.typeToString(type));
        }
        Mat bgr = new Mat();
        boolean gray = type == CvType.CV_8UC1;
        Imgproc.cvtColor(image, bgr, gray ? Imgproc.COLOR_GRAY2BGR : Imgproc.COLOR_BGRA2BGR);
        return bgr;
    }

    /** Returns what messages call it. */
    public String name() {
        return name;
    }

    /**
     * Returns the pixels, [H, W, 3] BGR uint8; the caller frees them, and changes none, for they
     * may be those of somebody else's image.
     *
     * @throws SaccadeException if it is no usable image; names it
     */
    public Mat read() {
        return pixels.read(maxPixels, warnings);
    }
}

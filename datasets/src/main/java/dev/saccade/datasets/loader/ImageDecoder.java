package dev.saccade.datasets.loader;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.image.ImageReader;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.datasets.image.PixelReader;

import org.opencv.core.Mat;

import java.util.function.Supplier;

/** Decodes images of a {@link PixelFormat} before any transform. */
final class ImageDecoder {

    private final PixelFormat pixels;

    ImageDecoder(PixelFormat pixels) {
        this.pixels = pixels;
    }

    PixelFormat pixels() {
        return pixels;
    }

    /** Reads an image of a data set, but no targets; throws if its size is not as declared. */
    Sample read(ImageFile image) {
        return Sample.of(decode(image), info(image), Instances.empty());
    }

    /** Reads an image outside of any data set, with id 0. */
    Sample read(ImageSource source) {
        Mat image = source.read(pixels);
        return Sample.of(image, ImageInfo.of(0, source.name(), size(image)), Instances.empty());
    }

    /** Decodes an image of a data set; throws if its size is not as declared. */
    Mat decode(ImageFile image) {
        return decode(image, 1);
    }

    private Mat decode(ImageFile image, int reduction) {
        if (pixels.isRgb8()) {
            return ImageReader.read(image.file(), image.size(), reduction);
        }
        Mat read = PixelReader.read(image.file(), pixels);
        Size size = size(read);
        if (!size.equals(image.size())) {
            read.release();
            throw SaccadeException.user(
                    "%s: is %s (height x width), but declared as %s",
                    image.file(), size, image.size());
        }
        return read;
    }

    /**
     * Reads an image with a class.
     *
     * @param reduction factor by which an upright JPEG is reduced, see {@link Transform#reduction}
     */
    Sample read(ImageFile image, int label, int reduction) {
        Mat decoded = decode(image, reduction);
        Size full = image.size();
        Size size = size(decoded);
        ImageInfo info = info(image);
        return Sample.of(
                decoded,
                size.equals(full)
                        ? info
                        : info.resized(
                                size,
                                (float) size.width() / full.width(),
                                (float) size.height() / full.height()),
                label);
    }

    private static Size size(Mat image) {
        return new Size(image.rows(), image.cols());
    }

    static ImageInfo info(ImageFile image) {
        return ImageInfo.of(image.id(), image.file().toString(), image.size());
    }

    /** Returns the result of a reader; adds the image id to the message of failures. */
    static <T> T describingFailure(ImageFile image, Supplier<T> reading) {
        try {
            return reading.get();
        } catch (SaccadeException e) {
            throw switch (e.kind()) {
                case USER -> SaccadeException.user("image %d: %s", image.id(), e);
                case IO -> SaccadeException.io(e, "image %d: %s", image.id(), e.getMessage());
                case INTERNAL -> e;
            };
        } catch (RuntimeException e) {
            throw SaccadeException.internal(
                    e, "image %d: %s: %s", image.id(), image.file(), e.toString());
        }
    }
}

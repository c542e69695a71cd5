package dev.saccade.datasets.loader;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Instances;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.image.ImageReader;
import dev.saccade.datasets.image.ImageSource;

import org.opencv.core.Mat;

import java.util.function.Supplier;

/** Decodes photographs, as nothing has been done to them yet. */
final class ImageDecoder {

    private ImageDecoder() {}

    /**
     * Returns a photograph of a data set, without targets.
     *
     * @throws SaccadeException if the file cannot be used or has another size than declared
     */
    static Sample read(ImageFile photo) {
        return Sample.of(decode(photo), info(photo), Instances.empty());
    }

    /**
     * Returns a loose photograph, its id being 0.
     *
     * @throws SaccadeException if it cannot be used
     */
    static Sample read(ImageSource source) {
        Mat image = source.read();
        return Sample.of(image, ImageInfo.of(0, source.name(), size(image)), Instances.empty());
    }

    /**
     * Returns the pixels of a photograph of a data set.
     *
     * @throws SaccadeException if the file cannot be used or has another size than declared
     */
    static Mat decode(ImageFile photo) {
        Mat image = ImageReader.read(photo.file());
        Size size = size(image);
        if (!size.equals(photo.size())) {
            image.release();
            throw SaccadeException.user(
                    "%s: is %s (height x width, turned upright), but declared as %s",
                    photo.file(), size, photo.size());
        }
        return image;
    }

    private static Size size(Mat image) {
        return new Size(image.rows(), image.cols());
    }

    /** Returns that nothing has happened to a photograph. */
    static ImageInfo info(ImageFile photo) {
        return ImageInfo.of(photo.id(), photo.file().toString(), photo.size());
    }

    /** Returns what is read; a failure names the photograph. */
    static <T> T describingFailure(ImageFile photo, Supplier<T> reading) {
        try {
            return reading.get();
        } catch (SaccadeException e) {
            throw switch (e.kind()) {
                case USER -> SaccadeException.user("image %d: %s", photo.id(), e);
                case IO -> SaccadeException.io(e, "image %d: %s", photo.id(), e.getMessage());
                case INTERNAL -> e;
            };
        } catch (RuntimeException e) {
            throw SaccadeException.internal(
                    e, "image %d: %s: %s", photo.id(), photo.file(), e.toString());
        }
    }
}

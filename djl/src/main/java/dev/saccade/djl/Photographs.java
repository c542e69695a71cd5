package dev.saccade.djl;

import ai.djl.modality.cv.Image;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.image.ImageSource;

import org.opencv.core.Mat;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;

/** Photographs in the forms that DJL's users have them in. */
final class Photographs {

    private Photographs() {}

    /** Returns the pixels of an image of either of DJL's factories. */
    static ImageSource of(Image image) {
        Object wrapped = image.getWrappedImage();
        if (wrapped instanceof BufferedImage pixels) {
            return ImageSource.of(pixels);
        }
        if (wrapped instanceof Mat pixels) {
            return ImageSource.of(pixels);
        }
        throw SaccadeException.user(
                "image of %s: expected one that wraps a BufferedImage or a Mat; give its file or"
                        + " bytes instead",
                wrapped.getClass().getName());
    }

    /** Returns the file at an address. */
    static ImageSource read(URL address) {
        try (InputStream content = address.openStream()) {
            return ImageSource.read(address.toString(), content);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", address, e.getMessage());
        }
    }

    /** Returns the file that a stream has; the caller closes it. */
    static ImageSource read(InputStream content) {
        return ImageSource.read("image of a stream", content);
    }
}

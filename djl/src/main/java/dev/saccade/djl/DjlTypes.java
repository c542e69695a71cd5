package dev.saccade.djl;

import ai.djl.modality.Input;
import ai.djl.modality.Output;
import ai.djl.modality.cv.Image;
import ai.djl.ndarray.BytesSupplier;
import ai.djl.util.JsonSerializable;

import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.image.ImageSource;

import org.opencv.core.Mat;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.Locale;

/** Converts DJL's inputs to images, and results to DJL's outputs. */
final class DjlTypes {

    private static final String CONTENT_TYPE = "Content-Type";
    private static final String JSON = "application/json";

    private DjlTypes() {}

    /** Returns the pixels of an image; supports DJL's image factories for the JDK and OpenCV. */
    static ImageSource image(Image image) {
        Object wrapped = image.getWrappedImage();
        if (wrapped instanceof BufferedImage pixels) {
            return ImageSource.of(pixels);
        }
        if (wrapped instanceof Mat pixels) {
            return ImageSource.of(pixels);
        }
        throw SaccadeException.user(
                "image of type %s: expected an image that wraps a BufferedImage or a Mat;"
                        + " pass its file or bytes instead",
                wrapped.getClass().getName());
    }

    static ImageSource image(URL address) {
        try (InputStream content = address.openStream()) {
            return ImageSource.read(address.toString(), content);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", address, e.getMessage());
        }
    }

    /** Returns the image in a stream, which the caller closes. */
    static ImageSource image(InputStream content) {
        return ImageSource.read("image from a stream", content);
    }

    /**
     * Returns the image in a request: its body, or the part {@code data} of a form. Rejects
     * requests without image data; URLs are not downloaded.
     */
    static ImageSource image(Input request) {
        BytesSupplier data = request.getData();
        String type = request.getProperty(CONTENT_TYPE, "").toLowerCase(Locale.ROOT);
        if (data == null || type.startsWith(JSON)) {
            throw SaccadeException.user(
                    "the request has no image; expected the content of an image file, as"
                            + " sent by curl -X POST -T photo.jpg");
        }
        return ImageSource.of(data.getAsBytes());
    }

    static Output output(JsonSerializable result) {
        Output output = new Output();
        output.addProperty(CONTENT_TYPE, JSON);
        output.add(result);
        return output;
    }

    static Output errorOutput(SaccadeException error) {
        boolean client = error.kind() == SaccadeException.Kind.USER;
        int code = client ? 400 : 500;
        Output output = new Output(code, client ? "Bad Request" : "Internal Server Error");
        output.addProperty(CONTENT_TYPE, JSON);
        output.add(
                BytesSupplier.wrapAsJson(
                        ImmutableMap.of(
                                "code", code,
                                "type", error.getClass().getSimpleName(),
                                "message", error.getMessage())));
        return output;
    }
}

package dev.saccade.cli.predictions;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.image.ImageSource;

import org.opencv.core.Mat;

import java.util.Optional;

/** Looks at photographs, draws what it sees, and tells it. */
public interface Predictor {

    /**
     * Predicts an image and writes its pictures.
     *
     * @param name file name
     * @param image BGR pixels
     */
    Prediction predict(String name, Mat image);

    /** Decodes a photograph once, for all that is done with its pixels, and looks at it. */
    default Prediction decodeAndPredict(ImageSource photo) {
        Mat image = read(photo);
        try {
            return predict(photo.name(), image);
        } finally {
            image.release();
        }
    }

    /** Takes a photograph that cannot be read as one that cannot be used: others may be. */
    private static Mat read(ImageSource photo) {
        try {
            return photo.read();
        } catch (SaccadeException e) {
            throw e.kind() == SaccadeException.Kind.IO
                    ? SaccadeException.user(e, "%s", e.getMessage())
                    : e;
        }
    }

    /** Returns a note on objects that a limit has left out, if it may have left out any. */
    default Optional<String> leftOut(Seen seen) {
        return Optional.empty();
    }

    /** Returns in a few words what was seen. */
    String summary(Seen seen);
}

package dev.saccade.cli;

import dev.saccade.datasets.image.ImageSource;

import java.util.List;

/** Looks at photographs, draws what it sees, and tells it. */
interface Predictor {

    /**
     * Looks at a photograph and writes its pictures.
     *
     * @return what {@code predictions.json} says of it, one entry for each thing seen
     */
    List<?> predict(ImageSource photo);

    /** Returns in a few words what was seen. */
    String summary(Seen seen);
}

package dev.saccade.cli;

import dev.saccade.datasets.image.ImageSource;

/** Looks at photographs, draws what it sees, and tells it. */
interface Predictor {

    /** Looks at a photograph and writes its pictures. */
    Prediction predict(ImageSource photo);

    /** Returns in a few words what was seen. */
    String summary(Seen seen);
}

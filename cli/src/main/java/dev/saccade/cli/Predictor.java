package dev.saccade.cli;

import com.fasterxml.jackson.databind.JsonNode;

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

    /**
     * Returns in a few words what was seen in photographs.
     *
     * @param predicted what {@link #predict} has told of each, as JSON
     */
    String summary(Iterable<JsonNode> predicted);
}

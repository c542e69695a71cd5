package dev.saccade.djl;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.util.JsonSerializable;

import dev.saccade.core.structures.Size;

import java.util.List;

/** Converts predictions to {@link PredictionBlock}'s lossless arrays, then to DJL's types. */
interface ResponseFormat<P> {

    /** Returns the model type for messages, such as {@code detector}. */
    String model();

    /** Returns DJL's type for predictions of the model. */
    Class<? extends JsonSerializable> type();

    /** Converts a prediction to arrays. {@code imageSize} is the size of the original image. */
    NDList arrays(P predicted, Size imageSize, NDManager manager);

    JsonSerializable response(NDList arrays, List<String> classes);
}

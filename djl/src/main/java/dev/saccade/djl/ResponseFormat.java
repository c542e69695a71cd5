package dev.saccade.djl;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.util.JsonSerializable;

import dev.saccade.core.structures.Size;

import java.util.List;

/**
 * Response type of a model in DJL. The block returns exact arrays, which are then converted to one
 * of DJL's types.
 */
interface ResponseFormat<P> {

    /** Returns the name of the model type for messages. */
    String model();

    /** Returns DJL's type. */
    Class<? extends JsonSerializable> type();

    /**
     * Returns the arrays of a prediction.
     *
     * @param imageSize the size of the photograph
     * @param manager owns them
     */
    NDList arrays(P predicted, Size imageSize, NDManager manager);

    /** Converts arrays to the response. */
    JsonSerializable response(NDList arrays, List<String> classes);
}

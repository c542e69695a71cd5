package dev.saccade.djl;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.util.JsonSerializable;

import dev.saccade.core.structures.Size;

import java.util.List;

/**
 * How what a model predicts reaches who asks DJL: as arrays, exactly, which leave its block, and
 * then as one of DJL's own types.
 */
interface Answers<P> {

    /** Returns what a model is called that answers so. */
    String model();

    /** Returns DJL's type. */
    Class<? extends JsonSerializable> type();

    /**
     * Returns the arrays of a prediction.
     *
     * @param photo the size of the photograph
     * @param manager owns them
     */
    NDList arrays(P predicted, Size photo, NDManager manager);

    /** Returns the answer that is in arrays. */
    JsonSerializable answer(NDList arrays, List<String> classes);
}

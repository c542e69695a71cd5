package dev.saccade.export;

import ai.djl.ndarray.NDList;

/** An exported model that can be run. */
public interface ExportedProgram extends AutoCloseable {

    /** Returns what runs it, and its version. */
    String runtime();

    /**
     * Returns its outputs, in order, in the manager of the first input.
     *
     * @param inputs in order
     */
    NDList run(NDList inputs);

    @Override
    void close();
}

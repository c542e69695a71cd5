package dev.saccade.export;

import ai.djl.ndarray.NDList;

/** An exported model that can be run. */
public interface ExportedProgram extends AutoCloseable {

    /** Returns name and version of the runtime. */
    String runtime();

    /** Returns the outputs in order. The manager of the first input owns them. */
    NDList run(NDList inputs);

    @Override
    void close();
}

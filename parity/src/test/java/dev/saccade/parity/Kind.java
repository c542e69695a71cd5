package dev.saccade.parity;

/** Runs Saccade on the input of a case and compares the output. */
@FunctionalInterface
interface Kind {

    /**
     * Fails if the results differ from the recorded ones.
     *
     * @throws org.opentest4j.TestAbortedException if the case needs something that Saccade lacks
     */
    void run(Case recorded) throws Exception;
}

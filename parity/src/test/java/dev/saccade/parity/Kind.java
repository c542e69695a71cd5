package dev.saccade.parity;

/** What is done with the cases of one kind: run our code on the input and compare the output. */
@FunctionalInterface
interface Kind {

    /**
     * Fails if our numbers are not the recorded ones.
     *
     * @throws org.opentest4j.TestAbortedException if the case asks for what is not built
     */
    void run(Case recorded) throws Exception;
}

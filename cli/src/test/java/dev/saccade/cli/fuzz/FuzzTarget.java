package dev.saccade.cli.fuzz;

import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.util.List;

/** A way into Saccade for what others made. */
interface FuzzTarget {

    /** Returns what {@code -Dsaccade.fuzz.target} calls it. */
    String name();

    /** Returns what its inputs are made of. */
    Format format();

    /** Returns inputs that are let in, and some that nearly are; the same ones in every process. */
    List<byte[]> seeds();

    /** Returns words that mean something behind this target, for mutations to drop in. */
    default List<byte[]> words() {
        return List.of();
    }

    /**
     * Lets an input in, and checks what has come of it.
     *
     * @throws SaccadeException of kind user, if it is refused; anything else that is thrown is a
     *     fault of Saccade
     */
    void enter(byte[] input) throws IOException;

    /** Returns how many bytes of heap may be allocated for an input, all in all. */
    default long allowance(byte[] input) {
        return (32L << 20) + 2000L * input.length;
    }
}

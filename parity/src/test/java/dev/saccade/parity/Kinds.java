package dev.saccade.parity;

import org.opentest4j.TestAbortedException;

import java.util.Map;

/** All kinds of cases that Saccade can be held against. */
final class Kinds {

    private static final Map<String, Kind> TABLE = Map.of();

    private Kinds() {}

    /** Runs a case, aborting it if nothing is built for its kind. */
    static void run(Case recorded) throws Exception {
        Kind kind = TABLE.get(recorded.kind());
        if (kind == null) {
            throw new TestAbortedException("nothing is built for the kind " + recorded.kind());
        }
        kind.run(recorded);
        recorded.checkAllUsed();
    }
}

package dev.saccade.spark;

import static java.util.Comparator.comparing;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.SaccadeException.Kind;
import dev.saccade.train.Outcome;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.List;
import java.util.Optional;

/**
 * Result of a rank, sent as bytes, which all serializers of Spark support.
 *
 * @param outcome null after an error
 * @param error without its cause, whose class the driver may lack; null without an error
 * @param notes log lines of the run on this rank
 */
record RankResult(
        Outcome outcome, SaccadeException error, boolean causedByOtherRank, List<String> notes)
        implements Serializable {

    private static final long serialVersionUID = 1L;

    /** Returns the outcome of a run, or throws its original error, preferring user errors. */
    static Outcome outcome(List<RankResult> results) {
        List<Kind> order = List.of(Kind.USER, Kind.INTERNAL, Kind.IO);
        Optional<RankResult> failed =
                results.stream()
                        .filter(end -> end.error != null)
                        .min(
                                comparing(RankResult::causedByOtherRank)
                                        .thenComparing(end -> order.indexOf(end.error.kind())));
        if (failed.isPresent()) {
            throw failed.get().error;
        }
        return results.get(0).outcome;
    }

    byte[] toBytes() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(this);
        } catch (IOException e) {
            throw new IllegalStateException("the result of a rank cannot be serialized", e);
        }
        return bytes.toByteArray();
    }

    static RankResult read(byte[] bytes) {
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
            return (RankResult) in.readObject();
        } catch (IOException | ClassNotFoundException e) {
            throw new IllegalStateException("the result of a rank cannot be read", e);
        }
    }
}

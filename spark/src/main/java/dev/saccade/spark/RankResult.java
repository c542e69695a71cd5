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
 * End of a rank. The driver receives it as bytes, which all serializers of Spark know.
 *
 * @param outcome null after an error
 * @param error without a cause, whose class the driver may not have; null without an error
 * @param causedByOtherRank whether other ranks caused the error
 * @param notes of the run on this rank
 */
record RankResult(
        Outcome outcome, SaccadeException error, boolean causedByOtherRank, List<String> notes)
        implements Serializable {

    private static final long serialVersionUID = 1L;

    /**
     * Returns the outcome of a run.
     *
     * @param results of all ranks
     * @throws SaccadeException the error of the rank that failed first; user errors take precedence
     */
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
            throw new IllegalStateException("the end of a rank cannot be serialized", e);
        }
        return bytes.toByteArray();
    }

    static RankResult read(byte[] bytes) {
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
            return (RankResult) in.readObject();
        } catch (IOException | ClassNotFoundException e) {
            throw new IllegalStateException("the end of a rank cannot be read", e);
        }
    }
}

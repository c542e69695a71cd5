package dev.saccade.spark;

import dev.saccade.core.SaccadeException;
import dev.saccade.train.Outcome;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** How a rank has ended. It comes to the driver as bytes, which all serializers of Spark know. */
sealed interface RankEnd extends Serializable {

    /** What the run has noted on this rank. */
    List<String> notes();

    /** A rank that has trained. */
    record Trained(Outcome outcome, List<String> notes) implements RankEnd {

        private static final long serialVersionUID = 1L;
    }

    /**
     * A rank that could not go on.
     *
     * @param error without a cause, whose class the driver may not have
     * @param ofOthers whether other ranks are the reason
     */
    record Failed(SaccadeException error, boolean ofOthers, List<String> notes) implements RankEnd {

        private static final long serialVersionUID = 1L;
    }

    /**
     * Returns how a run has ended.
     *
     * @param ends of all ranks, by rank
     * @throws SaccadeException the error of the rank that is the reason, if some have failed; a
     *     mistake of the user comes before others
     */
    static Outcome outcome(List<RankEnd> ends) {
        List<SaccadeException.Kind> order =
                List.of(
                        SaccadeException.Kind.USER,
                        SaccadeException.Kind.INTERNAL,
                        SaccadeException.Kind.IO);
        Optional<Failed> reason =
                ends.stream()
                        .filter(Failed.class::isInstance)
                        .map(Failed.class::cast)
                        .min(
                                Comparator.comparing(Failed::ofOthers)
                                        .thenComparing(end -> order.indexOf(end.error.kind())));
        if (reason.isPresent()) {
            throw reason.get().error;
        }
        return ((Trained) ends.get(0)).outcome;
    }

    /** Returns what {@link #read} takes. */
    default byte[] toBytes() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(this);
        } catch (IOException e) {
            throw new IllegalStateException("the end of a rank could not be told", e);
        }
        return bytes.toByteArray();
    }

    /** Returns what {@link #toBytes} has written. */
    static RankEnd read(byte[] bytes) {
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
            return (RankEnd) in.readObject();
        } catch (IOException | ClassNotFoundException e) {
            throw new IllegalStateException("a rank has told no end that is known", e);
        }
    }
}

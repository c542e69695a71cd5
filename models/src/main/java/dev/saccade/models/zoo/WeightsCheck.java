package dev.saccade.models.zoo;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Holds a file to what is published of it. */
final class WeightsCheck {

    private static final double BYTES_PER_MEBIBYTE = 1 << 20;

    /** Published sizes are rounded, some of them to whole mebibytes. */
    private static final double TOLERANCE = 0.02;

    /** No weights that anybody has published are larger. */
    private static final long MOST = 2L << 30;

    private final PretrainedWeights weights;

    WeightsCheck(PretrainedWeights weights) {
        this.weights = weights;
    }

    /** Returns the maximum size of a file in bytes, for downloads of unknown length. */
    long most() {
        return weights.mebibytes()
                .map(mebibytes -> (long) (mebibytes * BYTES_PER_MEBIBYTE * (1 + TOLERANCE)))
                .orElse(MOST);
    }

    /**
     * Refuses a size before anything is read or fetched.
     *
     * @throws SaccadeException of kind I/O
     */
    void requireSize(long bytes) {
        if (bytes > MOST) {
            throw SaccadeException.io(
                    null, "%s: %d bytes, at most %d expected", weights.file(), bytes, MOST);
        }
        double found = bytes / BYTES_PER_MEBIBYTE;
        double published = weights.mebibytes().orElse(found);
        if (Math.abs(found - published) > TOLERANCE * published) {
            String message = "%s: %d bytes, but %.1f MiB are published";
            throw SaccadeException.io(null, message, weights.file(), bytes, published);
        }
    }

    /**
     * Rejects a file of another size or checksum, and one without the weights that are used.
     *
     * @throws SaccadeException of kind user or I/O
     */
    void requirePublished(Path file) {
        try {
            requireSize(Files.size(file));
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, WeightsCache.reason(e));
        }
        requireChecksum(file);
        if (weights.open(file).tensors().isEmpty()) {
            throw SaccadeException.user("%s: holds no weights", file);
        }
    }

    /**
     * Refuses a file of another checksum than the one that is published, if one is.
     *
     * @return the checksum
     */
    String requireChecksum(Path file) {
        String checksum = Checkpoints.checksum(file);
        String published = weights.sha256().orElse("");
        if (!checksum.startsWith(published)) {
            throw SaccadeException.user(
                    "%s: the SHA-256 is %s, but one that begins with %s is published; delete the"
                            + " file and fetch it again",
                    file, checksum, published);
        }
        return checksum;
    }
}

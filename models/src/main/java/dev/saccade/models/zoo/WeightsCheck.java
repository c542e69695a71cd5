package dev.saccade.models.zoo;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Compares a file with its published size and checksum. */
final class WeightsCheck {

    private static final double BYTES_PER_MEBIBYTE = 1 << 20;

    /** Published sizes are rounded, some to whole mebibytes. */
    private static final double TOLERANCE = 0.02;

    /** Larger than all published weights. */
    private static final long MAX_SIZE = 2L << 30;

    private final PretrainedWeights weights;

    WeightsCheck(PretrainedWeights weights) {
        this.weights = weights;
    }

    /** Returns the maximum file size in bytes, for downloads of unknown length. */
    long maxSize() {
        return weights.mebibytes()
                .map(mebibytes -> (long) (mebibytes * BYTES_PER_MEBIBYTE * (1 + TOLERANCE)))
                .orElse(MAX_SIZE);
    }

    /** Rejects an unexpected size, before reading or downloading. */
    void requireSize(long bytes) {
        if (bytes > MAX_SIZE) {
            throw SaccadeException.io(
                    null, "%s: got %d bytes, expected at most %d", weights.file(), bytes, MAX_SIZE);
        }
        double found = bytes / BYTES_PER_MEBIBYTE;
        double published = weights.mebibytes().orElse(found);
        if (Math.abs(found - published) > TOLERANCE * published) {
            String message = "%s: got %d bytes, expected %.1f MiB";
            throw SaccadeException.io(null, message, weights.file(), bytes, published);
        }
    }

    /** Rejects a file with another size or checksum, or without weights. */
    void requirePublished(Path file) {
        try {
            requireSize(Files.size(file));
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, WeightsCache.reason(e));
        }
        requireChecksum(file);
        if (weights.open(file).tensors().isEmpty()) {
            throw SaccadeException.user("%s: contains no weights", file);
        }
    }

    /** Returns the SHA-256 of a file; throws if it differs from the published one. */
    String requireChecksum(Path file) {
        String checksum = Checkpoints.checksum(file);
        String published = weights.sha256().orElse("");
        if (!checksum.startsWith(published)) {
            throw SaccadeException.user(
                    "%s: got SHA-256 %s, expected one that begins with %s; delete the file and"
                            + " download it again",
                    file, checksum, published);
        }
        return checksum;
    }
}

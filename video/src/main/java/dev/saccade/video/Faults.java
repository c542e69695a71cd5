package dev.saccade.video;

import static org.bytedeco.ffmpeg.global.avcodec.AV_PKT_FLAG_CORRUPT;
import static org.bytedeco.ffmpeg.global.avcodec.AV_PKT_FLAG_DISCARD;
import static org.bytedeco.ffmpeg.global.avcodec.AV_PKT_FLAG_KEY;

import dev.saccade.core.Text;

import org.bytedeco.ffmpeg.avcodec.AVPacket;
import org.bytedeco.ffmpeg.avutil.AVFrame;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Collects errors: undecodable packets, corrupt frames and truncation. */
final class Faults {

    /** {@code AV_FRAME_FLAG_CORRUPT}, missing in the bindings. */
    private static final int CORRUPT = 1;

    /** {@code AV_FRAME_FLAG_KEY}, missing in the bindings. */
    private static final int KEY = 1 << 1;

    /** FFmpeg marks at most this number of packets before an appended recording as corrupt. */
    private static final int BEFORE_RESTART = 3;

    private final long declared;
    private final Damage damage = new Damage();
    private long frames;
    private long packets;
    private long shownPackets;
    private long lostPackets;
    private long firstLost;
    private long corruptPacket = -1;
    private boolean keySeen;
    private boolean ended;
    private Optional<String> breakReason = Optional.empty();
    private Optional<String> decodeError = Optional.empty();

    /** Creates a collector; {@code declared} is the frame count in the file, 0 if unknown. */
    Faults(long declared) {
        this.declared = declared;
    }

    void addPacket(AVPacket packet, boolean timesRestart, int reorder) {
        packets++;
        if ((packet.flags() & AV_PKT_FLAG_DISCARD) != 0) {
            return;
        }
        if (timesRestart) {
            corruptPacket = -1;
        }
        addCorruptPacket(shownPackets - BEFORE_RESTART, reorder);
        if ((packet.flags() & AV_PKT_FLAG_CORRUPT) != 0 && corruptPacket < 0) {
            corruptPacket = shownPackets;
        }
        keySeen |= (packet.flags() & AV_PKT_FLAG_KEY) != 0;
        shownPackets++;
    }

    /** Counts the corrupt packet as damage unless its index exceeds {@code latest}. */
    private void addCorruptPacket(long latest, int reorder) {
        if (corruptPacket >= 0 && corruptPacket <= latest) {
            damage.start(corruptPacket - lostPackets, reorder);
            corruptPacket = -1;
        }
    }

    void addFrame(AVFrame frame, int reorder) {
        damage.frame((frame.flags() & KEY) != 0);
        if (frame.decode_error_flags() != 0 || (frame.flags() & CORRUPT) != 0) {
            damage.start(frames, reorder);
        }
        frames++;
    }

    /**
     * Adds a packet that cannot be decoded.
     *
     * @param late maximum number of packets by which the decoder reports an error late
     * @param isReferenced whether other frames may refer to the missing frame
     */
    void addLostPacket(String error, int late, boolean isReferenced) {
        long latest = Math.max(frames, shownPackets - lostPackets - 1);
        if (decodeError.isEmpty()) {
            decodeError = Optional.of(error);
            firstLost = latest;
        }
        if (keySeen && isReferenced) {
            damage.start(latest, late);
        }
        lostPackets++;
    }

    /** Handles the end of the file; {@code readError} is empty if no read failed. */
    void end(Optional<String> readError, int reorder) {
        ended = true;
        boolean truncated = corruptPacket >= 0 && corruptPacket == shownPackets - 1;
        breakReason =
                readError.isEmpty() && (truncated || packets < declared)
                        ? Optional.of("the file is truncated")
                        : readError;
        addCorruptPacket(Long.MAX_VALUE, reorder);
    }

    /** Returns all errors in one line; empty if there are none. */
    Optional<String> text(double lastSeconds) {
        List<String> faults = new ArrayList<>();
        breakReason.ifPresent(
                reason ->
                        faults.add(
                                Text.format(
                                        "ends early after %d frames%s, at %.2f s: %s",
                                        frames,
                                        declared > 0 ? " of " + declared : "",
                                        lastSeconds,
                                        reason)));
        if (ended && frames == 0) {
            faults.add("no frame can be decoded");
        }
        damage.text().ifPresent(damaged -> faults.add(damaged + " may be damaged"));
        decodeError.ifPresent(
                error ->
                        faults.add(
                                Text.format(
                                        "%d %s cannot be decoded, the first near frame %d (%s)",
                                        lostPackets,
                                        lostPackets == 1 ? "packet" : "packets",
                                        firstLost,
                                        error)));
        return faults.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", faults));
    }
}

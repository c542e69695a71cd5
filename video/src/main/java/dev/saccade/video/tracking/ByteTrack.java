package dev.saccade.video.tracking;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.models.DetectedObject;
import dev.saccade.video.tracking.Association.Candidate;
import dev.saccade.video.tracking.Association.Matches;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * ByteTrack (Zhang et al., 2022): associates reliable detections with tracks first, and then
 * detections with low scores with the tracks that are left.
 */
public final class ByteTrack implements Tracker {

    private static final double SECOND_THRESH = 0.5;
    private static final double UNCONFIRMED_THRESH = 0.7;
    private static final double DUPLICATE_OVERLAP = 0.85;

    private final Config config;
    private final Association association;
    private final double trackThresh;
    private final double newTrackThresh;
    private final int buffer;

    private List<ByteTracklet> tracked = new ArrayList<>();
    private List<ByteTracklet> lost = new ArrayList<>();
    private long frame;
    private int lastId;

    /**
     * Settings, named as in the original code.
     *
     * @param trackThresh minimum score of reliable detections; default: {@link Source#score}
     * @param newTrackThresh minimum score of the first detection of a track; default: {@code
     *     trackThresh} plus 0.1, or plus half of the distance to 1 if this is less
     * @param lowThresh minimum score in the second association
     * @param trackBuffer number of frames that a track continues without detection, at 30 frames
     *     per second
     * @param matchThresh maximum cost, 1 - overlap, in the first association
     * @param fuseScore whether to multiply the overlap by the score in the first association
     * @param mixClasses whether a track may change its class
     */
    @Component("byte_track")
    public record Config(
            Optional<Double> trackThresh,
            Optional<Double> newTrackThresh,
            @Default("0.1") double lowThresh,
            @Default("30") int trackBuffer,
            @Default("0.9") double matchThresh,
            @Default("true") boolean fuseScore,
            @Default("box") Similarity similarity,
            @Default("false") boolean mixClasses)
            implements Tracker.Config {

        public Config {
            new Checks()
                    .inRange("track_thresh", trackThresh, 0, 1)
                    .inRange("new_track_thresh", newTrackThresh, 0, 1)
                    .inRange("low_thresh", lowThresh, 0, 1)
                    .inRange("track_buffer", trackBuffer, 0, 100_000)
                    .inRange("match_thresh", matchThresh, 0, 1)
                    .throwIfAny();
        }

        @Override
        public ByteTrack build(Source source) {
            return new ByteTrack(this, source);
        }
    }

    private ByteTrack(Config config, Source source) {
        this.config = config;
        association = new Association(config.similarity, config.mixClasses);
        trackThresh = config.trackThresh.orElse(source.score());
        newTrackThresh =
                config.newTrackThresh.orElse(Math.min(trackThresh + 0.1, (trackThresh + 1) / 2));
        // The original code removes a track one frame after its buffer ends.
        buffer = source.frames(config.trackBuffer) + 1;
    }

    @Override
    public double minScore() {
        return Math.min(trackThresh, config.lowThresh);
    }

    @Override
    public List<TrackedObject> update(List<DetectedObject> objects) {
        List<Detection> detections = Detection.of(objects, config.similarity);
        frame++;
        List<Detection> high = detections.stream().filter(each -> isHigh(each.score())).toList();
        List<Detection> low =
                detections.stream()
                        .filter(each -> !isHigh(each.score()) && each.score() >= config.lowThresh)
                        .toList();
        Set<ByteTracklet> updated = new LinkedHashSet<>();
        List<Detection> free = associate(high, low, updated);
        free = confirm(free, updated);
        for (Detection detection : free) {
            if (detection.score() >= newTrackThresh) {
                updated.add(new ByteTracklet(++lastId, detection, frame, frame == 1));
            }
        }
        List<ByteTracklet> missed =
                tracked.stream()
                        .filter(each -> each.isConfirmed && !updated.contains(each))
                        .toList();
        tracked.retainAll(updated);
        updated.removeAll(new HashSet<>(tracked));
        // Recovered tracks come last, as in the original code.
        updated.stream().filter(each -> !lost.contains(each)).forEach(tracked::add);
        updated.stream().filter(lost::contains).forEach(tracked::add);
        lost.removeAll(updated);
        lost.addAll(missed);
        lost.removeIf(each -> frame - each.lastFrame() > buffer);
        removeDuplicates();
        return tracked.stream()
                .filter(each -> each.isConfirmed)
                .map(each -> new TrackedObject(each.id, each.detection().object))
                .toList();
    }

    private boolean isHigh(double score) {
        return score >= trackThresh;
    }

    /** Associates confirmed and lost tracks; returns the reliable detections that are left. */
    private List<Detection> associate(
            List<Detection> high, List<Detection> low, Set<ByteTracklet> updated) {
        List<ByteTracklet> pool =
                new ArrayList<>(tracked.stream().filter(each -> each.isConfirmed).toList());
        int active = pool.size();
        pool.addAll(lost);
        for (int i = 0; i < pool.size(); i++) {
            pool.get(i).predict(/* isLost= */ i >= active);
        }
        Matches first = match(pool, high, config.fuseScore, config.matchThresh);
        update(pool, high, first, updated);
        List<ByteTracklet> left =
                first.freeRows.stream().filter(row -> row < active).map(pool::get).toList();
        Matches second = match(left, low, /* fuse= */ false, SECOND_THRESH);
        update(left, low, second, updated);
        return first.freeColumns.stream().map(high::get).toList();
    }

    /** Confirms tracks of the previous frame; returns the detections that are left. */
    private List<Detection> confirm(List<Detection> detections, Set<ByteTracklet> updated) {
        List<ByteTracklet> unconfirmed =
                tracked.stream().filter(each -> !each.isConfirmed).toList();
        Matches matches = match(unconfirmed, detections, config.fuseScore, UNCONFIRMED_THRESH);
        update(unconfirmed, detections, matches, updated);
        return matches.freeColumns.stream().map(detections::get).toList();
    }

    private Matches match(
            List<ByteTracklet> tracks, List<Detection> detections, boolean fuse, double limit) {
        return association.match(
                tracks.stream().map(each -> new Candidate(each.box(), each.detection())).toList(),
                Candidate.of(detections),
                each -> fuse ? each.score() : 1,
                limit);
    }

    private void update(
            List<ByteTracklet> tracks,
            List<Detection> detections,
            Matches matches,
            Set<ByteTracklet> updated) {
        for (int row = 0; row < tracks.size(); row++) {
            if (matches.columns[row] >= 0) {
                tracks.get(row).update(detections.get(matches.columns[row]), frame);
                updated.add(tracks.get(row));
            }
        }
    }

    /** Removes the younger of a tracked and a lost track at the same place. */
    private void removeDuplicates() {
        double[][] overlaps =
                association.overlaps(
                        tracked.stream()
                                .map(each -> new Candidate(each.box(), each.detection()))
                                .toList(),
                        lost.stream()
                                .map(each -> new Candidate(each.box(), each.detection()))
                                .toList());
        Set<ByteTracklet> removed = new HashSet<>();
        for (int row = 0; row < tracked.size(); row++) {
            for (int column = 0; column < lost.size(); column++) {
                if (overlaps[row][column] > DUPLICATE_OVERLAP) {
                    boolean keepsTracked = tracked.get(row).age() > lost.get(column).age();
                    removed.add(keepsTracked ? lost.get(column) : tracked.get(row));
                }
            }
        }
        tracked.removeAll(removed);
        lost.removeAll(removed);
    }
}

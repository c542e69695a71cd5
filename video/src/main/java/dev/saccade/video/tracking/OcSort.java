package dev.saccade.video.tracking;

import dev.saccade.core.Checks;
import dev.saccade.core.components.Component;
import dev.saccade.core.components.Default;
import dev.saccade.models.DetectedObject;
import dev.saccade.video.tracking.Association.Candidate;
import dev.saccade.video.tracking.Association.Matches;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * OC-SORT (Cao et al., 2023): associates detections by overlap and direction of motion, recovers
 * tracks at their last detection, and corrects the motion of a recovered track.
 */
public final class OcSort implements Tracker {

    private final Config config;
    private final Association association;
    private final double trackThresh;
    private final int maxAge;

    private final List<OcTracklet> tracks = new ArrayList<>();
    private long frame;
    private int lastId;

    /**
     * Settings, named as in the original code.
     *
     * @param trackThresh minimum score of reliable detections; default: {@link Source#score}
     * @param lowThresh minimum score in the second association; only with {@code use_byte}
     * @param maxAge number of frames that a track continues without detection, at 30 frames per
     *     second
     * @param minHits number of frames in a row that a new track needs
     * @param iouThreshold minimum overlap of a track and its detection
     * @param deltaT number of frames over which the direction of motion is computed
     * @param inertia weight of the direction of motion
     * @param useByte whether to associate detections with low scores with the tracks that are left
     * @param mixClasses whether a track may change its class
     */
    @Component("oc_sort")
    public record Config(
            Optional<Double> trackThresh,
            @Default("0.1") double lowThresh,
            @Default("30") int maxAge,
            @Default("3") int minHits,
            @Default("0.3") double iouThreshold,
            @Default("3") int deltaT,
            @Default("0.2") double inertia,
            @Default("false") boolean useByte,
            @Default("box") Similarity similarity,
            @Default("false") boolean mixClasses)
            implements Tracker.Config {

        public Config {
            new Checks()
                    .inRange("track_thresh", trackThresh, 0, 1)
                    .inRange("low_thresh", lowThresh, 0, 1)
                    .inRange("max_age", maxAge, 0, 100_000)
                    .inRange("min_hits", minHits, 0, 1000)
                    .above("iou_threshold", iouThreshold, 0, 1)
                    .inRange("delta_t", deltaT, 1, 100)
                    .inRange("inertia", inertia, 0, 1)
                    .throwIfAny();
        }

        @Override
        public OcSort build(Source source) {
            return new OcSort(this, source);
        }
    }

    private OcSort(Config config, Source source) {
        this.config = config;
        association = new Association(config.similarity, config.mixClasses);
        trackThresh = config.trackThresh.orElse(source.score());
        maxAge = source.frames(config.maxAge);
    }

    @Override
    public double minScore() {
        return config.useByte ? Math.min(trackThresh, config.lowThresh) : trackThresh;
    }

    @Override
    public List<TrackedObject> update(List<DetectedObject> objects) {
        List<Detection> detections = Detection.of(objects, config.similarity);
        frame++;
        List<Detection> high =
                detections.stream().filter(each -> each.score() >= trackThresh).toList();
        tracks.forEach(OcTracklet::predict);
        tracks.removeIf(each -> !each.isValid());
        List<OcTracklet> missed = new ArrayList<>();
        List<Detection> free = associate(high, missed);
        if (config.useByte) {
            List<Detection> low =
                    detections.stream()
                            .filter(each -> each.score() < trackThresh)
                            .filter(each -> each.score() >= config.lowThresh)
                            .toList();
            recover(missed, predictedOf(missed), low);
        }
        free = recover(missed, missed.stream().map(OcTracklet::lastCandidate).toList(), free);
        missed.forEach(OcTracklet::miss);
        free.forEach(each -> tracks.add(new OcTracklet(++lastId, each, config.deltaT)));
        tracks.removeIf(each -> each.misses() > maxAge);
        return tracks.stream()
                .filter(this::isReported)
                .map(each -> new TrackedObject(each.id, each.detection().object))
                .toList();
    }

    private boolean isReported(OcTracklet track) {
        boolean isConfirmed = track.streak() >= config.minHits || frame <= config.minHits;
        return track.misses() == 0 && isConfirmed;
    }

    private static List<Candidate> predictedOf(List<OcTracklet> tracks) {
        return tracks.stream().map(each -> new Candidate(each.box(), each.detection())).toList();
    }

    /**
     * Associates detections by overlap and direction. Adds the tracks that are left to {@code
     * missed} and returns the detections that are left.
     */
    private List<Detection> associate(List<Detection> detections, List<OcTracklet> missed) {
        double[][] overlaps = association.overlaps(Candidate.of(detections), predictedOf(tracks));
        double[][] costs = new double[detections.size()][tracks.size()];
        for (int row = 0; row < costs.length; row++) {
            Detection detection = detections.get(row);
            for (int column = 0; column < costs[row].length; column++) {
                OcTracklet track = tracks.get(column);
                double direction =
                        association.isAllowed(detection, track.detection())
                                ? track.directionScore(detection.box())
                                : 0;
                costs[row][column] =
                        -overlaps[row][column] - config.inertia * detection.score() * direction;
            }
        }
        Matches matches =
                unambiguous(overlaps)
                        .map(columns -> new Matches(columns, tracks.size()))
                        .orElseGet(() -> matches(overlaps, costs, tracks.size()));
        update(tracks, detections, matches);
        matches.freeColumns.forEach(column -> missed.add(tracks.get(column)));
        return matches.freeRows.stream().map(detections::get).toList();
    }

    /** Associates missed tracks by overlap and removes them; returns the detections left. */
    private List<Detection> recover(
            List<OcTracklet> missed, List<Candidate> places, List<Detection> detections) {
        double[][] overlaps = association.overlaps(Candidate.of(detections), places);
        double[][] costs = new double[detections.size()][missed.size()];
        for (int row = 0; row < costs.length; row++) {
            for (int column = 0; column < costs[row].length; column++) {
                costs[row][column] = -overlaps[row][column];
            }
        }
        Matches matches = matches(overlaps, costs, missed.size());
        List<OcTracklet> tracks = List.copyOf(missed);
        update(tracks, detections, matches);
        missed.clear();
        matches.freeColumns.forEach(column -> missed.add(tracks.get(column)));
        return matches.freeRows.stream().map(detections::get).toList();
    }

    /** Returns the overlapping pairs if no detection and no track is in two of them. */
    private Optional<int[]> unambiguous(double[][] overlaps) {
        int[] columns = none(overlaps.length);
        Set<Integer> taken = new HashSet<>();
        for (int row = 0; row < columns.length; row++) {
            for (int column = 0; column < overlaps[row].length; column++) {
                if (overlaps[row][column] > config.iouThreshold) {
                    if (columns[row] >= 0 || !taken.add(column)) {
                        return Optional.empty();
                    }
                    columns[row] = column;
                }
            }
        }
        return taken.isEmpty() ? Optional.empty() : Optional.of(columns);
    }

    /** Minimizes the costs of all pairs, and then drops pairs that overlap too little. */
    private Matches matches(double[][] overlaps, double[][] costs, int columns) {
        int[] assigned = columns == 0 ? none(costs.length) : Assignment.solve(costs);
        for (int row = 0; row < assigned.length; row++) {
            if (assigned[row] >= 0 && overlaps[row][assigned[row]] < config.iouThreshold) {
                assigned[row] = -1;
            }
        }
        return new Matches(assigned, columns);
    }

    private static int[] none(int rows) {
        int[] assigned = new int[rows];
        Arrays.fill(assigned, -1);
        return assigned;
    }

    private static void update(
            List<OcTracklet> tracks, List<Detection> detections, Matches matches) {
        for (int row = 0; row < detections.size(); row++) {
            if (matches.columns[row] >= 0) {
                tracks.get(matches.columns[row]).update(detections.get(row));
            }
        }
    }
}

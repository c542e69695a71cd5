package dev.saccade.video.tracking;

import dev.saccade.config.Configs;
import dev.saccade.core.Checks;
import dev.saccade.core.components.ComponentConfig;
import dev.saccade.models.DetectedObject;

import java.util.List;

/**
 * Gives the objects in the frames of one video identities.
 *
 * <pre>{@code
 * Tracker tracker = Tracker.byteTrack(new Tracker.Source(0.5, 25));
 * for (Mat frame : camera) {
 *     for (TrackedObject each : tracker.update(detector.detect(frame, tracker.minScore()))) {
 *         System.out.println(each.id() + ": " + each.object().label());
 *     }
 * }
 * }</pre>
 *
 * <p>Memory does not grow with the length of the video. Not thread-safe; use one tracker per video.
 */
public interface Tracker {

    /** Settings of a tracker; {@code predict --tracker} selects it by {@code type}. */
    interface Config extends ComponentConfig {

        Tracker build(Source source);
    }

    /**
     * Properties of the detector and the video.
     *
     * @param score minimum score of reliable detections, such as {@code
     *     detector.scoreThresholds().overall()}
     * @param framesPerSecond frames per second that the tracker gets
     */
    record Source(double score, double framesPerSecond) {

        public Source {
            new Checks()
                    .inRange("score", score, 0, 1)
                    .above("frames_per_second", framesPerSecond, 0, 10_000)
                    .throwIfAny();
        }

        /** Converts a duration in frames at 30 frames per second to frames of this video. */
        int frames(int framesAt30) {
            return (int) (framesPerSecond / 30 * framesAt30);
        }
    }

    /** Creates a {@link ByteTrack} with default settings. */
    static Tracker byteTrack(Source source) {
        return Configs.of(ByteTrack.Config.class).build(source);
    }

    /** Creates an {@link OcSort} with default settings. */
    static Tracker ocSort(Source source) {
        return Configs.of(OcSort.Config.class).build(source);
    }

    /** Returns the minimum score of the detections that the tracker uses. */
    double minScore();

    /**
     * Processes the next frame; call it for every frame, also without detections.
     *
     * @param detections objects with scores from 0 to 1; boxes without area are omitted
     * @return the tracked objects of this frame, in no particular order; other detections are
     *     omitted
     * @throws IllegalArgumentException if a score or box is not finite
     */
    List<TrackedObject> update(List<DetectedObject> detections);
}

package dev.saccade.video.tracking;

import dev.saccade.models.Box;

/** A track of {@link ByteTrack}: center, aspect ratio and height of a box with their velocities. */
final class ByteTracklet {

    private static final double POSITION = 1.0 / 20;
    private static final double VELOCITY = 1.0 / 160;

    final int id;
    boolean isConfirmed;

    private final KalmanFilter filter;
    private final long firstFrame;
    private long lastFrame;
    private Detection detection;

    ByteTracklet(int id, Detection detection, long frame, boolean isConfirmed) {
        this.id = id;
        this.detection = detection;
        this.firstFrame = frame;
        this.lastFrame = frame;
        this.isConfirmed = isConfirmed;
        double height = detection.box().height();
        this.filter =
                new KalmanFilter(
                        measurement(detection.box()),
                        variances(2 * POSITION * height, 1e-2, 10 * VELOCITY * height, 1e-5));
    }

    /** Advances the track by a frame; the height of lost tracks stays constant. */
    void predict(boolean isLost) {
        if (isLost) {
            filter.mean[7] = 0;
        }
        double height = filter.mean[3];
        filter.predict(variances(POSITION * height, 1e-2, VELOCITY * height, 1e-5));
    }

    void update(Detection next, long frame) {
        double[] noise = variances(POSITION * filter.mean[3], 1e-1, 0, 0);
        filter.update(measurement(next.box()), noise);
        detection = next;
        lastFrame = frame;
        isConfirmed = true;
    }

    Detection detection() {
        return detection;
    }

    long lastFrame() {
        return lastFrame;
    }

    long age() {
        return lastFrame - firstFrame;
    }

    /** Returns the filtered or, after {@link #predict}, predicted box. */
    Box box() {
        double[] mean = filter.mean;
        double width = mean[2] * mean[3];
        double left = mean[0] - width / 2;
        double top = mean[1] - mean[3] / 2;
        return new Box(left, top, left + width, top + mean[3]);
    }

    private static double[] measurement(Box box) {
        return new double[] {
            box.x1() + box.width() / 2,
            box.y1() + box.height() / 2,
            box.width() / box.height(),
            box.height()
        };
    }

    /** Returns variances of center, aspect ratio and height, and of their velocities. */
    private static double[] variances(
            double position, double aspect, double velocity, double aspectVelocity) {
        return new double[] {
            position * position,
            position * position,
            aspect * aspect,
            position * position,
            velocity * velocity,
            velocity * velocity,
            aspectVelocity * aspectVelocity,
            velocity * velocity
        };
    }
}

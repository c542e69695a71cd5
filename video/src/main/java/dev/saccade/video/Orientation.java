package dev.saccade.video;

import static org.bytedeco.ffmpeg.global.avutil.AV_FRAME_DATA_DISPLAYMATRIX;
import static org.bytedeco.ffmpeg.global.avutil.av_frame_get_side_data;

import org.bytedeco.ffmpeg.avutil.AVFrame;
import org.bytedeco.ffmpeg.avutil.AVFrameSideData;
import org.bytedeco.javacpp.IntPointer;
import org.opencv.core.Core;
import org.opencv.core.Mat;

/**
 * Orientation of a frame: optional transposition, then flips; {@code exact} is false if rounded to
 * a multiple of 90 degrees.
 */
record Orientation(boolean transposed, boolean flippedX, boolean flippedY, boolean exact) {

    /** Maximum tangent of the deviation from a multiple of 90 degrees that counts as exact. */
    private static final double TOLERANCE = 0.02;

    private static final Orientation AS_STORED = new Orientation(false, false, false, true);

    /**
     * Returns the orientation from the display matrix. FFmpeg attaches the matrix of the container
     * to each frame, or else the matrix of the codec (SEI, EXIF).
     */
    static Orientation of(AVFrame frame) {
        AVFrameSideData data = av_frame_get_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX);
        if (data == null || data.isNull()) {
            return AS_STORED;
        }
        IntPointer matrix = new IntPointer(data.data());
        return of(matrix.get(0), matrix.get(1), matrix.get(3), matrix.get(4));
    }

    /** Returns the orientation nearest to {@code x' = a x + c y, y' = b x + d y}. */
    static Orientation of(long a, long b, long c, long d) {
        long diagonal = Math.abs(a) + Math.abs(d);
        long offDiagonal = Math.abs(b) + Math.abs(c);
        if (diagonal + offDiagonal == 0) {
            return AS_STORED;
        }
        boolean transposed = offDiagonal > diagonal;
        return new Orientation(
                transposed,
                (transposed ? c : a) < 0,
                (transposed ? b : d) < 0,
                Math.min(diagonal, offDiagonal) <= TOLERANCE * Math.max(diagonal, offDiagonal));
    }

    Mat apply(Mat image) {
        Mat upright = new Mat();
        if (transposed) {
            Core.transpose(image, upright);
        } else {
            image.copyTo(upright);
        }
        if (flippedX || flippedY) {
            Core.flip(upright, upright, flippedX && flippedY ? -1 : flippedX ? 1 : 0);
        }
        return upright;
    }
}

package dev.saccade.models.draw;

import org.opencv.core.Mat;
import org.opencv.core.MatOfByte;
import org.opencv.core.MatOfInt;
import org.opencv.imgcodecs.Imgcodecs;

/** Encodes drawings as JPEG. */
public final class Jpeg {

    private static final int QUALITY = 92;

    private Jpeg() {}

    /** Encodes an image, [H, W, 3] BGR uint8. */
    public static byte[] encode(Mat image) {
        MatOfByte encoded = new MatOfByte();
        MatOfInt parameters = new MatOfInt(Imgcodecs.IMWRITE_JPEG_QUALITY, QUALITY);
        try {
            Imgcodecs.imencode(".jpg", image, encoded, parameters);
            return encoded.toArray();
        } finally {
            encoded.release();
            parameters.release();
        }
    }
}

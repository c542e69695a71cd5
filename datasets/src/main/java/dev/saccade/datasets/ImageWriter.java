package dev.saccade.datasets;

import dev.saccade.core.SaccadeException;

import org.opencv.core.Mat;
import org.opencv.core.MatOfByte;
import org.opencv.core.MatOfInt;
import org.opencv.imgcodecs.Imgcodecs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes pictures. */
public final class ImageWriter {

    private static final int JPEG_QUALITY = 92;

    private ImageWriter() {}

    /**
     * Returns a picture as the bytes of a JPEG file.
     *
     * @param image [H, W, 3] BGR uint8
     */
    public static byte[] jpeg(Mat image) {
        return encode(".jpg", image);
    }

    /**
     * Writes a picture as a file and makes the folder it lies in.
     *
     * @param image [H, W, 3] BGR uint8
     * @param file a name that ends in {@code .png} for PNG; all others become JPEG
     * @throws SaccadeException if it cannot be written
     */
    public static void write(Mat image, Path file) {
        byte[] bytes = encode(file.toString().endsWith(".png") ? ".png" : ".jpg", image);
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            Files.write(file, bytes);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", file, e.getMessage());
        }
    }

    private static byte[] encode(String extension, Mat image) {
        MatOfByte encoded = new MatOfByte();
        Imgcodecs.imencode(
                extension,
                image,
                encoded,
                new MatOfInt(Imgcodecs.IMWRITE_JPEG_QUALITY, JPEG_QUALITY));
        byte[] bytes = encoded.toArray();
        encoded.release();
        return bytes;
    }
}

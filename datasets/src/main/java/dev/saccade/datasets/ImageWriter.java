package dev.saccade.datasets;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;

import org.opencv.core.CvType;
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
        write(encode(file.toString().endsWith(".png") ? ".png" : ".jpg", image), file);
    }

    /**
     * Writes a label map as {@link #encodeLabels} does, and makes the folder the file lies in.
     *
     * @param classes number of classes
     * @throws SaccadeException if it cannot be written
     */
    public static void writeLabels(LabelMap labels, int classes, Path file) {
        write(encodeLabels(labels, classes), file);
    }

    /**
     * Returns a label map as the bytes of a grey PNG, which a data set with {@code
     * reduce_zero_label} reads back: the number of a pixel is its label + 1, or 0 if it is ignored.
     * Numbers have 8 bits up to 255 classes and 16 bits above.
     *
     * @param classes number of classes
     */
    public static byte[] encodeLabels(LabelMap labels, int classes) {
        Size size = labels.size();
        short[] numbers = labels.toArray();
        for (int i = 0; i < numbers.length; i++) {
            numbers[i]++;
        }
        Mat image = new Mat(size.height(), size.width(), CvType.CV_16UC1);
        try {
            image.put(0, 0, numbers);
            if (classes < 1 << Byte.SIZE) {
                image.convertTo(image, CvType.CV_8UC1);
            }
            return encode(".png", image);
        } finally {
            image.release();
        }
    }

    private static void write(byte[] bytes, Path file) {
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

package dev.saccade.models;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;

import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.MatOfByte;
import org.opencv.imgcodecs.Imgcodecs;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Class index of every pixel of an image, with the class names by index. */
public record ClassMap(LabelMap labels, List<String> classes) {

    public ClassMap {
        classes = ImmutableList.copyOf(classes);
    }

    /** Returns the image width in pixels. */
    public int width() {
        return labels.size().width();
    }

    /** Returns the image height in pixels. */
    public int height() {
        return labels.size().height();
    }

    /** Returns the class name of the pixel in column {@code x} and row {@code y}, from 0. */
    public String at(int x, int y) {
        if (x < 0 || x >= width() || y < 0 || y >= height()) {
            throw new IndexOutOfBoundsException(
                    "pixel (" + x + ", " + y + ") of " + width() + " by " + height());
        }
        return classes.get(labels.get(y, x));
    }

    /** Returns the fraction of pixels of each class that occurs, by class name, largest first. */
    public Map<String, Double> fractions() {
        long[] pixels = labels.histogram(classes.size());
        double all = labels.size().area();
        return IntStream.range(0, classes.size())
                .boxed()
                .filter(label -> pixels[label] > 0)
                .sorted(Comparator.comparing((Integer label) -> pixels[label]).reversed())
                .collect(ImmutableMap.toImmutableMap(classes::get, label -> pixels[label] / all));
    }

    /**
     * Encodes the map as a grayscale PNG for data sets with {@code reduce_zero_label}: a pixel is
     * the class index + 1, or 0 if ignored. Writes 8 bits for up to 255 classes, else 16 bits.
     */
    public byte[] toPng() {
        Size size = labels.size();
        short[] numbers = labels.toArray();
        for (int i = 0; i < numbers.length; i++) {
            numbers[i]++;
        }
        Mat image = new Mat(size.height(), size.width(), CvType.CV_16UC1);
        MatOfByte encoded = new MatOfByte();
        try {
            image.put(0, 0, numbers);
            if (classes.size() < 1 << Byte.SIZE) {
                image.convertTo(image, CvType.CV_8UC1);
            }
            Imgcodecs.imencode(".png", image, encoded);
            return encoded.toArray();
        } finally {
            image.release();
            encoded.release();
        }
    }

    /**
     * Returns the mask of a class, empty if the class does not occur. Throws if the name is
     * unknown.
     */
    public Rle mask(String name) {
        int label = classes.indexOf(name);
        if (label < 0) {
            throw SaccadeException.user("class: got %s, expected one of %s", name, classes);
        }
        return labels.masks().getOrDefault(label, Rle.empty(labels.size()));
    }
}

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

/**
 * The class of every pixel of a photograph, by name.
 *
 * @param labels the class of every pixel as its position in {@code classes}, of the size of the
 *     photograph
 * @param classes the names of the classes
 */
public record ClassMap(LabelMap labels, List<String> classes) {

    /** Keeps a copy of the list. */
    public ClassMap {
        classes = ImmutableList.copyOf(classes);
    }

    /** Returns the width of the photograph in pixels. */
    public int width() {
        return labels.size().width();
    }

    /** Returns the height of the photograph in pixels. */
    public int height() {
        return labels.size().height();
    }

    /**
     * Returns the name of the class of a pixel.
     *
     * @param x its column, from 0
     * @param y its row, from 0
     * @throws IndexOutOfBoundsException if the photograph has no such pixel
     */
    public String at(int x, int y) {
        if (x < 0 || x >= width() || y < 0 || y >= height()) {
            throw new IndexOutOfBoundsException(
                    "pixel (" + x + ", " + y + ") of " + width() + " by " + height());
        }
        return classes.get(labels.get(y, x));
    }

    /** Returns the share of the pixels of each class that has any, above 0 to 1, largest first. */
    public Map<String, Double> shares() {
        long[] pixels = labels.histogram(classes.size());
        double all = labels.size().area();
        return IntStream.range(0, classes.size())
                .boxed()
                .filter(label -> pixels[label] > 0)
                .sorted(Comparator.comparing((Integer label) -> pixels[label]).reversed())
                .collect(ImmutableMap.toImmutableMap(classes::get, label -> pixels[label] / all));
    }

    /**
     * Returns the labels as the bytes of a gray PNG, which a data set with {@code
     * reduce_zero_label} reads back: the number of a pixel is its label + 1, or 0 if it is ignored.
     * Numbers have 8 bits up to 255 classes and 16 bits above.
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
     * Returns the pixels of a class, maybe none.
     *
     * @throws SaccadeException of kind user, if there is no class of that name
     */
    public Rle mask(String name) {
        int label = classes.indexOf(name);
        if (label < 0) {
            throw SaccadeException.user("no class %s; expected one of %s", name, classes);
        }
        return labels.masks().getOrDefault(label, Rle.empty(labels.size()));
    }
}

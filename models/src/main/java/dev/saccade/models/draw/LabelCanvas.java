package dev.saccade.models.draw;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.core.structures.LabelMap;
import dev.saccade.core.structures.Size;

import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Point;
import org.opencv.core.Rect;
import org.opencv.core.Scalar;
import org.opencv.imgproc.Imgproc;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Draws label maps on images, with a legend below. */
public final class LabelCanvas {

    private static final int CHANNELS = 3;
    private static final Scalar WHITE = new Scalar(255, 255, 255);

    private final List<String> classes;
    private final List<Integer> colors;
    private final TextStyle style;
    private final int unit;

    private LabelCanvas(List<String> classes, Size image) {
        this.classes = classes;
        this.colors = ClassColors.of(classes);
        this.style = TextStyle.of(image);
        this.unit = (int) Math.ceil(style.size("M").height);
    }

    /**
     * Blends an image with the class colors of its label map. The caller releases the result.
     *
     * @param image [H, W, 3] BGR uint8
     * @param legend whether to list the classes below the image, largest first
     */
    public static Mat draw(Mat image, LabelMap labels, List<String> classes, boolean legend) {
        Size size = new Size(image.rows(), image.cols());
        checkArgument(
                image.type() == CvType.CV_8UC3 && labels.size().equals(size),
                "got a label map of %s for an image of %s, %s",
                labels.size(),
                size,
                CvType.typeToString(image.type()));
        LabelCanvas canvas = new LabelCanvas(classes, size);
        Mat tinted = canvas.tinted(image, labels);
        if (!legend) {
            return tinted;
        }
        try {
            return canvas.withLegend(tinted, entries(labels, classes.size()));
        } finally {
            tinted.release();
        }
    }

    /** Returns the labels that occur, most pixels first and unlabeled last. */
    private static List<Integer> entries(LabelMap labels, int classes) {
        long[] pixels = labels.histogram(classes);
        Stream<Integer> present =
                IntStream.range(0, classes)
                        .filter(label -> pixels[label] > 0)
                        .boxed()
                        .sorted(Comparator.comparing(label -> -pixels[label]));
        Stream<Integer> none = pixels[classes] > 0 ? Stream.of(LabelMap.IGNORE) : Stream.empty();
        return Stream.concat(present, none).toList();
    }

    private String name(int label) {
        return label == LabelMap.IGNORE ? "not labeled" : classes.get(label);
    }

    private Mat tinted(Mat image, LabelMap labels) {
        byte[] pixels = new byte[Math.toIntExact(image.total()) * CHANNELS];
        image.get(0, 0, pixels);
        int at = 0;
        for (int y = 0; y < image.rows(); y++) {
            for (int x = 0; x < image.cols(); x++, at += CHANNELS) {
                int label = labels.get(y, x);
                if (label != LabelMap.IGNORE) {
                    int rgb = colors.get(label);
                    for (int channel = 0; channel < CHANNELS; channel++) {
                        int color = (rgb >> (8 * channel)) & 0xFF;
                        pixels[at + channel] =
                                (byte) ((Byte.toUnsignedInt(pixels[at + channel]) + color) / 2);
                    }
                }
            }
        }
        Mat tinted = new Mat(image.rows(), image.cols(), CvType.CV_8UC3);
        tinted.put(0, 0, pixels);
        return tinted;
    }

    private Mat withLegend(Mat tinted, List<Integer> labels) {
        int width =
                labels.stream()
                        .mapToInt(label -> unit + entryWidth(label))
                        .reduce(tinted.cols(), Math::max);
        List<Point> corners = new ArrayList<>();
        double left = unit;
        double top = unit;
        for (int label : labels) {
            if (left > unit && left + entryWidth(label) > width) {
                left = unit;
                top += 2 * unit;
            }
            corners.add(new Point(left, tinted.rows() + top));
            left += entryWidth(label);
        }
        int legend = labels.isEmpty() ? 0 : (int) top + 2 * unit;
        Mat picture = new Mat(tinted.rows() + legend, width, CvType.CV_8UC3, WHITE);
        tinted.copyTo(picture.submat(new Rect(0, 0, tinted.cols(), tinted.rows())));
        for (int i = 0; i < corners.size(); i++) {
            draw(picture, labels.get(i), corners.get(i));
        }
        return picture;
    }

    /** Returns the width of a legend entry: color patch, name and spacing. */
    private int entryWidth(int label) {
        return (int) Math.ceil(style.size(name(label)).width) + 3 * unit;
    }

    private void draw(Mat picture, int label, Point corner) {
        Point end = new Point(corner.x + unit - 1, corner.y + unit - 1);
        if (label == LabelMap.IGNORE) {
            Imgproc.rectangle(picture, corner, end, TextStyle.BLACK, 1);
        } else {
            int rgb = colors.get(label);
            Scalar color = new Scalar(rgb & 0xFF, (rgb >> 8) & 0xFF, rgb >> 16);
            Imgproc.rectangle(picture, corner, end, color, Imgproc.FILLED);
        }
        Point start = new Point(corner.x + 1.5 * unit, end.y);
        style.write(picture, name(label), start, TextStyle.BLACK);
    }
}

package dev.saccade.models.draw;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Size;

import org.opencv.core.Mat;
import org.opencv.core.Point;
import org.opencv.core.Scalar;
import org.opencv.imgproc.Imgproc;

import java.util.OptionalDouble;
import java.util.stream.IntStream;

/**
 * How texts are written on pictures: larger on larger ones, smaller on smaller objects.
 *
 * @param scale of the font
 * @param line width of its strokes in pixels
 */
record Lettering(double scale, int line) {

    static final Scalar BLACK = new Scalar(20, 20, 20);

    private static final int FONT = Imgproc.FONT_HERSHEY_SIMPLEX;
    private static final double FONT_HEIGHT = 22;
    private static final double LEAST_TEXT_HEIGHT = 9;
    private static final double TEXT_HEIGHT_PER_EDGE = 0.02;
    private static final double TEXT_HEIGHT_PER_OBJECT = 0.11;

    /** Returns the letters for a picture of a size. */
    static Lettering of(Size picture) {
        return ofHeight(heightOn(picture));
    }

    /** Returns letters that also stay small beside most of the objects that they name. */
    static Lettering of(Size picture, Boxes objects) {
        double most = TEXT_HEIGHT_PER_OBJECT * medianEdge(objects).orElse(Double.MAX_VALUE);
        return ofHeight(Math.min(heightOn(picture), most));
    }

    private static double heightOn(Size picture) {
        return TEXT_HEIGHT_PER_EDGE * Math.sqrt((double) picture.area());
    }

    private static OptionalDouble medianEdge(Boxes objects) {
        return IntStream.range(0, objects.size())
                .mapToDouble(i -> Math.sqrt(objects.area(i)))
                .sorted()
                .skip(objects.size() / 2)
                .findFirst();
    }

    private static Lettering ofHeight(double pixels) {
        double scale = Math.max(LEAST_TEXT_HEIGHT, pixels) / FONT_HEIGHT;
        return new Lettering(scale, (int) Math.max(1, Math.rint(scale * 1.6)));
    }

    /** Returns what a text takes above its baseline. */
    org.opencv.core.Size size(String text) {
        return Imgproc.getTextSize(text, FONT, scale, line, new int[1]);
    }

    /** Writes a text from its left end on the baseline. */
    void write(Mat image, String text, Point start, Scalar color) {
        Imgproc.putText(image, text, start, FONT, scale, color, line, Imgproc.LINE_AA);
    }
}

package dev.saccade.models.draw;

import dev.saccade.core.structures.Boxes;
import dev.saccade.core.structures.Size;

import org.opencv.core.Mat;
import org.opencv.core.Point;
import org.opencv.core.Scalar;
import org.opencv.imgproc.Imgproc;

import java.util.OptionalDouble;
import java.util.stream.IntStream;

/** Font scale and stroke width in pixels; grows with the image and shrinks with small objects. */
record TextStyle(double scale, int line) {

    static final Scalar BLACK = new Scalar(20, 20, 20);

    private static final int FONT = Imgproc.FONT_HERSHEY_SIMPLEX;
    private static final double FONT_HEIGHT = 22;
    private static final double MIN_TEXT_HEIGHT = 9;
    private static final double TEXT_HEIGHT_PER_EDGE = 0.02;
    private static final double TEXT_HEIGHT_PER_OBJECT = 0.11;

    static TextStyle of(Size picture) {
        return ofHeight(heightOn(picture));
    }

    /** Returns the text style for an image, limited by the median object size. */
    static TextStyle of(Size picture, Boxes objects) {
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

    private static TextStyle ofHeight(double pixels) {
        double scale = Math.max(MIN_TEXT_HEIGHT, pixels) / FONT_HEIGHT;
        return new TextStyle(scale, (int) Math.max(1, Math.rint(scale * 1.6)));
    }

    /** Returns the width of a text and its height above the baseline. */
    org.opencv.core.Size size(String text) {
        return Imgproc.getTextSize(text, FONT, scale, line, new int[1]);
    }

    void write(Mat image, String text, Point start, Scalar color) {
        Imgproc.putText(image, text, start, FONT, scale, color, line, Imgproc.LINE_AA);
    }
}

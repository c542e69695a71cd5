package dev.saccade.report.draw;

import dev.saccade.core.structures.Size;

import org.opencv.core.Mat;
import org.opencv.core.Point;
import org.opencv.core.Scalar;
import org.opencv.imgproc.Imgproc;

/**
 * How texts are written on pictures: larger on larger ones.
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

    /** Returns the letters for a picture of a size. */
    static Lettering of(Size picture) {
        double edge = Math.sqrt((double) picture.area());
        double scale = Math.max(LEAST_TEXT_HEIGHT, edge * TEXT_HEIGHT_PER_EDGE) / FONT_HEIGHT;
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

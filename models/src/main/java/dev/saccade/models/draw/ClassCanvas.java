package dev.saccade.models.draw;

import dev.saccade.core.Text;
import dev.saccade.core.structures.Size;
import dev.saccade.models.ClassScore;

import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Point;
import org.opencv.core.Rect;
import org.opencv.core.Scalar;

import java.util.List;

/** Writes classes and their probabilities below an image. */
public final class ClassCanvas {

    private static final Scalar WHITE = new Scalar(255, 255, 255);

    private ClassCanvas() {}

    /** Returns a copy of an image {@code [H, W, 3]} BGR with a line per class below it. */
    public static Mat draw(Mat image, List<ClassScore> scores) {
        TextStyle style = TextStyle.of(new Size(image.rows(), image.cols()));
        List<String> lines =
                scores.stream()
                        .map(each -> Text.format("%.2f %s", each.score(), each.label()))
                        .toList();
        int unit = (int) Math.ceil(style.size("M").height);
        int width =
                lines.stream()
                        .mapToInt(line -> (int) Math.ceil(style.size(line).width) + 2 * unit)
                        .reduce(image.cols(), Math::max);
        int height = image.rows() + (2 * lines.size() + 1) * unit;
        Mat picture = new Mat(height, width, CvType.CV_8UC3, WHITE);
        image.copyTo(picture.submat(new Rect(0, 0, image.cols(), image.rows())));
        for (int i = 0; i < lines.size(); i++) {
            Point start = new Point(unit, image.rows() + 2.0 * (i + 1) * unit);
            style.write(picture, lines.get(i), start, TextStyle.BLACK);
        }
        return picture;
    }
}

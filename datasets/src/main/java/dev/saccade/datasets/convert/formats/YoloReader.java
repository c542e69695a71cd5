package dev.saccade.datasets.convert.formats;

import com.google.common.primitives.Doubles;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.convert.ConversionContext;
import dev.saccade.datasets.convert.LabelBuilder;
import dev.saccade.datasets.convert.Outline;
import dev.saccade.datasets.convert.ParsedImage;
import dev.saccade.datasets.convert.ParsedObject;
import dev.saccade.datasets.convert.SourceLabels;
import dev.saccade.datasets.convert.source.TextFile;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * YOLO: a text file for each image, a line for each object: the index of its class and, in
 * fractions of the image turned upright, center, width and height of its box, or the points of its
 * outline.
 *
 * <p>Follows Ultralytics in where files are: labels of {@code images/a.jpg} are in {@code
 * labels/a.txt}, else beside it; images without labels have no objects; coordinates may miss the
 * image by a hundredth. It differs where a file has boxes and outlines: each line is read by its
 * length, while Ultralytics reads a box as an outline of two points there.
 */
final class YoloReader implements LabelReader {

    private static final Pattern BLANKS = Pattern.compile("\\s+");
    private static final String KEYPOINTS = "; for keypoints, data.yaml states kpt_shape";
    private static final double TOLERANCE = 0.01;
    private static final int MAX_OBJECTS = 100_000;

    @Override
    public SourceLabels read(ConversionContext context) {
        YoloData data = YoloData.find(context);
        YoloFiles files = YoloFiles.of(context, data);
        List<ParsedImage> images =
                context.inParallel(
                        data.splits().keySet(),
                        image -> read(context, data, image, files.labelsOf(image)));
        if (data.keypoints() == 0) {
            YoloKeypoints.suspected(images)
                    .ifPresent(fault -> context.error(context.folder().toString(), "%s", fault));
        }
        return LabelBuilder.build(context, Optional.of(data.names()), images, Map.of());
    }

    private static ParsedImage read(
            ConversionContext context, YoloData data, String image, Optional<String> labels) {
        ParsedImage drawn = new ParsedImage(context.place(labels.orElse(image)));
        drawn.setImage(image, image);
        drawn.setSplit(data.splits().get(image));
        labels.ifPresent(
                file ->
                        drawn.attempt(
                                drawn.place(),
                                () -> readLines(context.folder().path(file), data, drawn)));
        return drawn.limitFindings();
    }

    private static void readLines(Path file, YoloData data, ParsedImage drawn) {
        List<TextFile.Line> lines = TextFile.lines(file);
        if (lines.size() > MAX_OBJECTS) {
            throw SaccadeException.user(
                    "%s: %d lines, at most %d expected", file, lines.size(), MAX_OBJECTS);
        }
        for (TextFile.Line line : lines) {
            drawn.attempt(line.place(), () -> drawn.objects().addAll(read(line, data)));
        }
    }

    /** Returns the object of a line; none without class names, which are reported once. */
    private static List<ParsedObject> read(TextFile.Line line, YoloData data) {
        String[] words = BLANKS.split(line.text(), -1);
        double[] numbers = new double[words.length];
        for (int i = 0; i < words.length; i++) {
            Double number = Doubles.tryParse(words[i]);
            if (number == null || !Double.isFinite(number)) {
                throw SaccadeException.user(
                        "got \"%s\", expected numbers with a point, and blanks between them",
                        words[i]);
            }
            numbers[i] = number;
        }
        List<String> names = data.names();
        if (names.isEmpty()) {
            return List.of();
        }
        int label = (int) numbers[0];
        if (label != numbers[0] || label < 0 || label >= names.size()) {
            throw SaccadeException.user(
                    "class %s, expected 0 to %d, of the %d names in %s",
                    words[0], names.size() - 1, names.size(), data.source());
        }
        int count = data.keypoints() > 0 ? 4 : numbers.length - 1;
        if (data.keypoints() > 0 && numbers.length != 5 + data.keypoints()) {
            throw SaccadeException.user(
                    "%d numbers, expected class, x, y, width, height and %d of points (kpt_shape)",
                    numbers.length, data.keypoints());
        } else if (count == 5) {
            throw SaccadeException.user(
                    "6 numbers, expected class, x, y, width and height; a score makes it what was"
                            + " found, not what is labeled");
        } else if (count < 4 || count % 2 != 0) {
            throw SaccadeException.user(
                    "%d numbers, expected a class, and a box of 4 or an outline of 3 or more"
                            + " points%s",
                    numbers.length, count > 5 ? KEYPOINTS : "");
        }
        for (int i = 1; i <= count; i++) {
            if (numbers[i] < -TOLERANCE || numbers[i] > 1 + TOLERANCE) {
                throw SaccadeException.user(
                        "got %s, expected fractions of the image, 0 to 1%s",
                        words[i], count > 4 ? KEYPOINTS : "");
            }
        }
        double[] points = Arrays.copyOfRange(numbers, 1, count + 1);
        Outline outline = count == 4 ? box(points) : new Outline.Ring(points);
        return List.of(
                new ParsedObject(line.place(), names.get(label), new Outline.Fractions(outline)));
    }

    private static Outline box(double[] box) {
        double x = box[0];
        double y = box[1];
        double width = box[2];
        double height = box[3];
        return new Outline.Box(x - width / 2, y - height / 2, x + width / 2, y + height / 2);
    }
}

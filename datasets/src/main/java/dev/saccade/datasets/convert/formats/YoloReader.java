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
 * YOLO: one text file per image, with one line per object: class index and, in fractions of the
 * upright image, center, width and height of its box, or the points of its outline.
 *
 * <p>Follows Ultralytics: labels of {@code images/a.jpg} are in {@code labels/a.txt}, or else next
 * to it; images without labels have no objects; coordinates may exceed the image by 0.01. If a file
 * has boxes and outlines, the length of each line determines its type, while Ultralytics reads
 * boxes as outlines of two points.
 */
final class YoloReader implements LabelReader {

    private static final Pattern BLANKS = Pattern.compile("\\s+");
    private static final String KEYPOINTS = "; for keypoints, set kpt_shape in data.yaml";
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
        ParsedImage parsed = new ParsedImage(context.place(labels.orElse(image)));
        parsed.setImage(image, image);
        parsed.setSplit(data.splits().get(image));
        labels.ifPresent(
                file ->
                        parsed.attempt(
                                parsed.place(),
                                () -> readLines(context.folder().path(file), data, parsed)));
        return parsed.limitFindings();
    }

    private static void readLines(Path file, YoloData data, ParsedImage parsed) {
        List<TextFile.Line> lines = TextFile.lines(file);
        if (lines.size() > MAX_OBJECTS) {
            throw SaccadeException.user(
                    "%s: got %d lines, expected at most %d", file, lines.size(), MAX_OBJECTS);
        }
        for (TextFile.Line line : lines) {
            parsed.attempt(line.place(), () -> parsed.objects().addAll(read(line, data)));
        }
    }

    private static List<ParsedObject> read(TextFile.Line line, YoloData data) {
        String[] words = BLANKS.split(line.text(), -1);
        double[] numbers = new double[words.length];
        for (int i = 0; i < words.length; i++) {
            Double number = Doubles.tryParse(words[i]);
            if (number == null || !Double.isFinite(number)) {
                throw SaccadeException.user(
                        "got \"%s\", expected decimal numbers separated by blanks", words[i]);
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
                    "got class %s, expected 0 to %d, for %d names in %s",
                    words[0], names.size() - 1, names.size(), data.source());
        }
        int count = data.keypoints() > 0 ? 4 : numbers.length - 1;
        if (data.keypoints() > 0 && numbers.length != 5 + data.keypoints()) {
            throw SaccadeException.user(
                    "got %d numbers, expected class, x, y, width, height and %d keypoint values"
                            + " (kpt_shape)",
                    numbers.length, data.keypoints());
        } else if (count == 5) {
            throw SaccadeException.user(
                    "got 6 numbers, expected class, x, y, width and height; a score means that"
                            + " these are predictions, not labels");
        } else if (count < 4 || count % 2 != 0) {
            throw SaccadeException.user(
                    "got %d numbers, expected a class index, and a box of 4 numbers or an outline"
                            + " of 3 or more points%s",
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

package dev.saccade.datasets.convert;

import com.google.common.primitives.Doubles;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.Finding;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;

/**
 * YOLO: a text file for each photograph, a line for each object: the number of its class and, in
 * fractions of the photograph turned upright, center, width and height of its box, or the points of
 * its outline.
 *
 * <p>Follows Ultralytics in what is where: labels of {@code images/a.jpg} are in {@code
 * labels/a.txt}, else beside it; photographs without labels show nothing; coordinates may miss the
 * photograph by a hundredth. It differs where a file has boxes and outlines: each line is what it
 * is, while there a box would be read as an outline of two points.
 */
final class YoloReader implements LabelReader {

    private static final Pattern BLANKS = Pattern.compile("\\s+");
    private static final String KEYPOINTS = "; for keypoints, data.yaml states kpt_shape";
    private static final double TOLERANCE = 0.01;
    private static final int MOST_OBJECTS = 100_000;

    @Override
    public boolean knows(SourceFolder folder, Samples samples) {
        return samples.have("YOLO");
    }

    @Override
    public ForeignLabels read(Reading reading) {
        YoloData data = YoloData.find(reading);
        Map<String, Optional<Part>> photographs = data.photographs();
        YoloFiles files = YoloFiles.of(reading, data);
        List<Callable<Drawing>> tasks = new ArrayList<>();
        photographs.forEach(
                (photo, part) ->
                        tasks.add(
                                () -> drawing(reading, data, photo, files.labelsOf(photo), part)));
        List<Drawing> drawings = Reading.inParallel(tasks, () -> {});
        if (data.keypoints() == 0) {
            YoloKeypoints.suspected(drawings)
                    .ifPresent(message -> reading.error(reading.folder().toString(), message));
        }
        return reading.labels(Optional.of(data.names()), drawings);
    }

    private static Drawing drawing(
            Reading reading,
            YoloData data,
            String photograph,
            Optional<String> labels,
            Optional<Part> part) {
        List<DrawnObject> objects = new ArrayList<>();
        List<Finding> findings = new ArrayList<>();
        String place = reading.place(labels.orElse(photograph));
        if (labels.isPresent()) {
            try {
                List<String> lines = TextFile.lines(reading.folder().path(labels.get()));
                if (lines.size() > MOST_OBJECTS) {
                    throw SaccadeException.user(
                            "%s: %d lines, at most %d expected", place, lines.size(), MOST_OBJECTS);
                }
                for (int i = 0; i < lines.size(); i++) {
                    if (!lines.get(i).isBlank()) {
                        read(lines.get(i).strip(), place + ":" + (i + 1), data, findings)
                                .ifPresent(objects::add);
                    }
                }
            } catch (SaccadeException e) {
                findings.add(Finding.error(place, e));
            }
        }
        return new Drawing(
                photograph,
                photograph,
                /* embedded= */ false,
                place,
                part,
                Optional.empty(),
                /* inFractions= */ true,
                objects,
                PhotoObjects.limited(findings));
    }

    private static Optional<DrawnObject> read(
            String line, String place, YoloData data, List<Finding> findings) {
        String[] words = BLANKS.split(line, -1);
        double[] numbers = new double[words.length];
        for (int i = 0; i < words.length; i++) {
            Double number = Doubles.tryParse(words[i]);
            if (number == null || !Double.isFinite(number)) {
                return fault(
                        findings,
                        place,
                        Text.format(
                                "got \"%s\", expected numbers with a point, and blanks between them",
                                words[i]));
            }
            numbers[i] = number;
        }
        int label = (int) numbers[0];
        if (data.names().isEmpty()) {
            // Reported once, for the data set.
            return Optional.empty();
        }
        if (label != numbers[0] || label < 0 || label >= data.names().size()) {
            return fault(
                    findings,
                    place,
                    Text.format(
                            "class %s, expected 0 to %d, of the %d names in %s",
                            words[0], data.names().size() - 1, data.names().size(), data.source()));
        }
        int count = data.keypoints() > 0 ? 4 : numbers.length - 1;
        boolean isBox = count == 4;
        if (data.keypoints() > 0 && numbers.length != 5 + data.keypoints()) {
            return fault(
                    findings,
                    place,
                    Text.format(
                            "%d numbers, expected class, x, y, width, height and %d of points (kpt_shape)",
                            numbers.length, data.keypoints()));
        } else if (!isBox && (count < 6 || count % 2 != 0)) {
            return fault(
                    findings,
                    place,
                    numbers.length == 6
                            ? "6 numbers, expected class, x, y, width and height; a score makes it"
                                    + " what was found, not what is labeled"
                            : Text.format(
                                            "%d numbers, expected a class, and a box of 4 or an outline of 3 or",
                                            numbers.length)
                                    + " more points"
                                    + (numbers.length > 6 ? KEYPOINTS : ""));
        }
        for (int i = 1; i <= count; i++) {
            if (numbers[i] < -TOLERANCE || numbers[i] > 1 + TOLERANCE) {
                return fault(
                        findings,
                        place,
                        Text.format(
                                "got %s, expected fractions of the photograph, 0 to 1%s",
                                words[i], count > 4 ? KEYPOINTS : ""));
            }
        }
        return Optional.of(
                new DrawnObject(place, data.names().get(label), outline(numbers, count)));
    }

    private static Outline outline(double[] numbers, int count) {
        if (count == 4) {
            double x = numbers[1];
            double y = numbers[2];
            double width = numbers[3];
            double height = numbers[4];
            return new Outline.Box(x - width / 2, y - height / 2, x + width / 2, y + height / 2);
        }
        return new Outline.Ring(Arrays.copyOfRange(numbers, 1, count + 1));
    }

    private static Optional<DrawnObject> fault(
            List<Finding> findings, String place, String message) {
        findings.add(Finding.error(place, "", message));
        return Optional.empty();
    }
}

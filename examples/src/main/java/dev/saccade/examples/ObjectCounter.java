package dev.saccade.examples;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;

import org.opencv.core.Mat;
import org.opencv.videoio.VideoCapture;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Counts objects per frame of a video, or per image of a folder in name order, as CSV:
 *
 * <pre>ObjectCounter CHECKPOINT VIDEO-OR-FOLDER MIN-SCORE</pre>
 */
public final class ObjectCounter {

    private final Detector detector;
    private final double minScore;
    private final PrintStream table;

    private ObjectCounter(Detector detector, double minScore, PrintStream table) {
        this.detector = detector;
        this.minScore = minScore;
        this.table = table;
    }

    public static void main(String[] args) throws IOException {
        if (args.length != 3) {
            System.err.println("expected: CHECKPOINT VIDEO-OR-FOLDER MIN-SCORE");
            return;
        }
        try (Detector detector = Detector.load(Path.of(args[0]))) {
            count(detector, Path.of(args[1]), Double.parseDouble(args[2]), System.out);
        }
    }

    /** Writes the number of objects per class in each video frame or image of a folder, as CSV. */
    public static void count(Detector detector, Path frames, double minScore, PrintStream table)
            throws IOException {
        ObjectCounter counter = new ObjectCounter(detector, minScore, table);
        table.println("frame," + String.join(",", detector.classes()));
        if (Files.isDirectory(frames)) {
            counter.countImages(frames);
        } else {
            counter.countVideo(frames);
        }
    }

    private void countImages(Path folder) throws IOException {
        try (Stream<Path> images = Files.list(folder)) {
            images.sorted().forEach(image -> row(image.getFileName(), ImageSource.of(image)));
        }
    }

    private void countVideo(Path video) {
        VideoCapture capture = new VideoCapture(video.toString());
        Mat frame = new Mat();
        try {
            if (!capture.isOpened()) {
                throw SaccadeException.user("%s: is not a video that OpenCV can read", video);
            }
            for (int number = 0; capture.read(frame); number++) {
                row(number, ImageSource.of(frame));
            }
        } finally {
            frame.release();
            capture.release();
        }
    }

    private void row(Object frame, ImageSource pixels) {
        List<String> labels =
                detector.detect(pixels, minScore).stream().map(DetectedObject::label).toList();
        table.println(
                detector.classes().stream()
                        .map(name -> labels.stream().filter(name::equals).count())
                        .map(String::valueOf)
                        .collect(Collectors.joining(",", frame + ",", "")));
    }
}

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
 * Counts objects over time, in a video or in a folder of photographs in the order of their names:
 *
 * <pre>ObjectCounter CHECKPOINT VIDEO-OR-FOLDER LEAST-SCORE</pre>
 *
 * <p>Prints a table with a row for each frame, by its number from 0 or its name.
 */
public final class ObjectCounter {

    private final Detector detector;
    private final double leastScore;
    private final PrintStream table;

    private ObjectCounter(Detector detector, double leastScore, PrintStream table) {
        this.detector = detector;
        this.leastScore = leastScore;
        this.table = table;
    }

    /** Prints the table of a video or folder. */
    public static void main(String[] args) throws IOException {
        if (args.length != 3) {
            System.err.println("expected: CHECKPOINT VIDEO-OR-FOLDER LEAST-SCORE");
            return;
        }
        try (Detector detector = Detector.load(Path.of(args[0]))) {
            count(detector, Path.of(args[1]), Double.parseDouble(args[2]), System.out);
        }
    }

    /**
     * Writes how many objects of each class every frame shows.
     *
     * @param leastScore objects below it do not count
     * @throws SaccadeException of kind user, if it is no video and no folder of images
     */
    public static void count(Detector detector, Path frames, double leastScore, PrintStream table)
            throws IOException {
        ObjectCounter counter = new ObjectCounter(detector, leastScore, table);
        table.println("frame," + String.join(",", detector.classes()));
        if (Files.isDirectory(frames)) {
            counter.countPhotographs(frames);
        } else {
            counter.countVideo(frames);
        }
    }

    private void countPhotographs(Path folder) throws IOException {
        try (Stream<Path> photos = Files.list(folder)) {
            photos.sorted().forEach(photo -> row(photo.getFileName(), ImageSource.of(photo)));
        }
    }

    private void countVideo(Path video) {
        VideoCapture capture = new VideoCapture(video.toString());
        Mat frame = new Mat();
        try {
            if (!capture.isOpened()) {
                throw SaccadeException.user("%s: is no video that OpenCV reads here", video);
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
                detector.detect(pixels, leastScore).stream().map(DetectedObject::label).toList();
        table.println(
                detector.classes().stream()
                        .map(name -> labels.stream().filter(name::equals).count())
                        .map(String::valueOf)
                        .collect(Collectors.joining(",", frame + ",", "")));
    }
}

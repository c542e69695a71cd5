package dev.saccade.examples;

import dev.saccade.core.SaccadeException;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Tags the images of a folder with the classes of their objects:
 *
 * <pre>ImageTagger CHECKPOINT FOLDER MIN-SCORE</pre>
 */
public final class ImageTagger {

    private final Detector detector;
    private final double minScore;

    /** Creates a tagger; the detector is not closed. */
    public ImageTagger(Detector detector, double minScore) {
        this.detector = detector;
        this.minScore = minScore;
    }

    /** Prints a line per file: its tags or an error. */
    public static void main(String[] args) throws IOException {
        if (args.length != 3) {
            System.err.println("expected: CHECKPOINT FOLDER MIN-SCORE");
            return;
        }
        try (Detector detector = Detector.load(Path.of(args[0]));
                Stream<Path> files = Files.list(Path.of(args[1]))) {
            ImageTagger tagger = new ImageTagger(detector, Double.parseDouble(args[2]));
            files.filter(Files::isRegularFile)
                    .sorted()
                    .map(tagger::line)
                    .forEach(System.out::println);
        }
    }

    /** Returns the number of objects per class name. */
    public Map<String, Long> tags(Path image) {
        List<DetectedObject> found = detector.detect(image, minScore);
        return found.stream()
                .collect(
                        Collectors.groupingBy(
                                DetectedObject::label, TreeMap::new, Collectors.counting()));
    }

    private String line(Path image) {
        try {
            String tags =
                    tags(image).entrySet().stream()
                            .map(tag -> tag.getValue() + " " + tag.getKey())
                            .collect(Collectors.joining(", "));
            return image.getFileName() + ": " + tags;
        } catch (SaccadeException e) {
            return e.getMessage();
        }
    }
}

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
 * Tags the photographs of a folder with what is on them:
 *
 * <pre>PhotoTagger CHECKPOINT FOLDER LEAST-SCORE</pre>
 */
public final class PhotoTagger {

    private final Detector detector;
    private final double leastScore;

    /** Tags with a detector, which is not closed; objects below the score do not count. */
    public PhotoTagger(Detector detector, double leastScore) {
        this.detector = detector;
        this.leastScore = leastScore;
    }

    /** Prints a line for each file of a folder: its tags, or what is wrong with it. */
    public static void main(String[] args) throws IOException {
        if (args.length != 3) {
            System.err.println("expected: CHECKPOINT FOLDER LEAST-SCORE");
            return;
        }
        try (Detector detector = Detector.load(Path.of(args[0]));
                Stream<Path> files = Files.list(Path.of(args[1]))) {
            PhotoTagger tagger = new PhotoTagger(detector, Double.parseDouble(args[2]));
            files.filter(Files::isRegularFile)
                    .sorted()
                    .map(tagger::line)
                    .forEach(System.out::println);
        }
    }

    /** Returns how many objects of each class are on a photograph, by name. */
    public Map<String, Long> tags(Path photo) {
        List<DetectedObject> found = detector.detect(photo, leastScore);
        return found.stream()
                .collect(
                        Collectors.groupingBy(
                                DetectedObject::label, TreeMap::new, Collectors.counting()));
    }

    private String line(Path photo) {
        try {
            String tags =
                    tags(photo).entrySet().stream()
                            .map(tag -> tag.getValue() + " " + tag.getKey())
                            .collect(Collectors.joining(", "));
            return photo.getFileName() + ": " + tags;
        } catch (SaccadeException e) {
            return e.getMessage();
        }
    }
}

package dev.saccade.train.extend;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;

import dev.saccade.core.Checks;
import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Result of an extension, stored in the run as {@code extension.json}.
 *
 * @param maxDrop limit on the decrease of the AP of an old class
 * @param trainedWeight fraction of the trained weights in the final weights; the rest are weights
 *     of the run before
 * @param trainings number of trainings, which shared the optimizer steps
 * @param newImages additions to the labels of the new training images
 * @param replayedImages additions to the labels of the replayed images
 * @param storedBytes size of the images that the run stores
 */
public record ExtensionReport(
        ClassComparison classes,
        double maxDrop,
        double trainedWeight,
        int trainings,
        Additions newImages,
        Additions replayedImages,
        long storedBytes) {

    public static final String FILE = "extension.json";

    public ExtensionReport {
        new Checks().inRange("trainings", trainings, 1, 2).throwIfAny();
    }

    private static final ObjectMapper JSON =
            new ObjectMapper()
                    .registerModule(new Jdk8Module())
                    .setPropertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
                    .enable(SerializationFeature.INDENT_OUTPUT)
                    .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES);

    /**
     * Predicted additions to labels.
     *
     * @param images number of images that are trained on
     * @param objects number of added objects
     * @param ignored number of added ignored regions
     * @param leftOut images that are not trained on, because they have no labeled object
     */
    public record Additions(int images, int objects, int ignored, int leftOut) {

        static final Additions NONE = new Additions(0, 0, 0, 0);
    }

    /** Reads the report of a run; empty if the run was not extended. */
    public static Optional<ExtensionReport> read(Path run) {
        Path file = run.resolve(FILE);
        if (!Files.isRegularFile(file)) {
            return Optional.empty();
        }
        try {
            return Optional.of(JSON.readValue(file.toFile(), ExtensionReport.class));
        } catch (JsonProcessingException e) {
            throw SaccadeException.user(
                    "%s: damaged file: %s; restore it, or delete it and set the number of epochs"
                            + " of the next extension",
                    file, e.getOriginalMessage());
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
    }

    byte[] toJson() {
        try {
            return JSON.writeValueAsBytes(this);
        } catch (JsonProcessingException e) {
            throw SaccadeException.internal(e, "an extension cannot be written as JSON");
        }
    }
}

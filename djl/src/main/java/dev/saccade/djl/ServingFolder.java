package dev.saccade.djl;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.models.ModelSpec;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Writes the folder of a model that DJL Serving loads: a checkpoint, and {@code
 * serving.properties}, which says how.
 *
 * <p>Saccade and what it needs must be on the class path of the server, such as in the folder
 * {@code deps} of its home.
 */
public final class ServingFolder {

    private static final String CHECKPOINT = "model.safetensors";

    private ServingFolder() {}

    /**
     * Writes a folder.
     *
     * @param checkpoint of a run
     * @param folder made here; if it is there it must be empty
     * @throws SaccadeException of kind user, if the checkpoint does not say of what model it is, or
     *     the folder holds files
     */
    public static void write(Path checkpoint, Path folder) {
        ModelSpec spec =
                ModelSpec.fromMetadata(
                        Checkpoints.open(checkpoint).metadata(), checkpoint.toString());
        String properties =
                Text.format(
                        """
                # A model of Saccade for DJL Serving.
                engine=%s
                application=%s
                blockFactory=%s
                translatorFactory=%s
                %s=%s
                option.hasParameter=false
                """,
                        CheckpointLoader.ENGINE,
                        RecipeRepository.application(spec.model().head().targets()).getPath(),
                        SaccadeBlockFactory.class.getName(),
                        SaccadeTranslatorFactory.class.getName(),
                        SaccadeBlockFactory.CHECKPOINT,
                        CHECKPOINT);
        try {
            if (Files.isDirectory(folder)) {
                checkEmpty(folder);
            }
            Files.createDirectories(folder);
            Files.copy(checkpoint, folder.resolve(CHECKPOINT));
            Files.writeString(folder.resolve("serving.properties"), properties);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", folder, e.getMessage());
        }
    }

    private static void checkEmpty(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            if (files.findAny().isPresent()) {
                throw SaccadeException.user("%s: not empty; choose a new or empty folder", folder)
                        .withSettings("out");
            }
        }
    }
}

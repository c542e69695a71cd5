package dev.saccade.djl;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.models.ModelCard;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.Provenance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Writes a model folder for DJL Serving: a checkpoint and {@code serving.properties}.
 *
 * <p>The server needs Saccade and its dependencies on the class path, such as in {@code deps} of
 * its home folder.
 */
public final class ServingFolder {

    private static final String CHECKPOINT = "model.safetensors";

    private ServingFolder() {}

    /**
     * Writes the model folder of a checkpoint.
     *
     * @param checkpoint a run's checkpoint
     * @param folder a new or empty folder
     * @throws SaccadeException of kind user, if the checkpoint does not describe its model, or the
     *     folder is not empty
     */
    public static void write(Path checkpoint, Path folder) {
        Map<String, String> metadata = Checkpoints.open(checkpoint).metadata();
        ModelSpec spec = ModelSpec.fromMetadata(metadata, checkpoint.toString());
        ModelCard card =
                ModelCard.of(folder, spec, Provenance.find(metadata, checkpoint.toString()));
        String properties =
                Text.format(
                        """
                # Saccade model for DJL Serving.
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
            card.write(folder.resolve(ModelCard.FILE));
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

package dev.saccade.djl;

import ai.djl.repository.zoo.ModelZoo;

import dev.saccade.core.SaccadeException;
import dev.saccade.models.zoo.Zoo;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Saccade's models for DJL's {@link ai.djl.repository.zoo.Criteria}.
 *
 * <p>DJL finds this zoo of all recipes automatically. It neither contains nor downloads weights;
 * pass a checkpoint as an argument:
 *
 * <pre>{@code
 * Criteria.builder()
 *         .setTypes(Path.class, DetectedObjects.class)
 *         .optGroupId("dev.saccade")
 *         .optArtifactId("mask_rcnn/swin_tiny_fpn_1x_coco")
 *         .optArgument("checkpoint", "mask_rcnn_swin_tiny_patch4_window7_1x.pth")
 *         .build();
 * }</pre>
 *
 * <p>A checkpoint of a run needs no recipe: {@code optModelZoo(SaccadeZoo.open(file))}. A folder of
 * {@link ServingFolder} needs only {@code optModelPath}; types other than {@code Input} and {@code
 * Output} also need {@code optTranslatorFactory(new SaccadeTranslatorFactory())}, because DJL
 * chooses the translator before it reads the folder.
 */
public final class SaccadeZoo extends ModelZoo {

    /** Group ID of all models. */
    public static final String GROUP = "dev.saccade";

    /** Creates the zoo of all bundled recipes. */
    public SaccadeZoo() {
        RecipeRepository repository = new RecipeRepository(Zoo.packaged());
        repository.getResources().forEach(mrl -> addModel(new CheckpointLoader(mrl)));
    }

    private SaccadeZoo(CheckpointLoader only) {
        addModel(only);
    }

    /**
     * Returns a zoo whose only model is a run's checkpoint. Criteria need no factories or options.
     *
     * @param checkpoint the file, or a folder with a single {@code .safetensors} file
     * @throws SaccadeException of kind user, if the file cannot be read or does not describe its
     *     model
     */
    public static SaccadeZoo open(Path checkpoint) {
        return new SaccadeZoo(
                CheckpointLoader.open(
                        Files.isDirectory(checkpoint) ? onlyFile(checkpoint) : checkpoint));
    }

    private static Path onlyFile(Path folder) {
        List<Path> checkpoints = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.safetensors")) {
            files.forEach(checkpoints::add);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be listed: %s", folder, e.getMessage());
        }
        if (checkpoints.size() != 1) {
            throw SaccadeException.user(
                    "%s: has %d checkpoints, expected one; pass the file",
                    folder, checkpoints.size());
        }
        return checkpoints.get(0);
    }

    @Override
    public String getGroupId() {
        return GROUP;
    }

    @Override
    public Set<String> getSupportedEngines() {
        return Set.of(CheckpointLoader.ENGINE);
    }
}

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
 * <p>DJL finds the zoo of all recipes by itself. It has no weights and downloads none: a recipe is
 * loaded with those of a file.
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
 * <p>A checkpoint of a run needs no recipe: {@code optModelZoo(SaccadeZoo.open(file))}. Where a
 * folder is named by {@code optModelPath}, it is one that {@link ServingFolder} wrote. For requests
 * ({@code Input} and {@code Output}) DJL needs no more than that; for other types it chooses the
 * translator before it looks into the folder, and wants {@code optTranslatorFactory(new
 * SaccadeTranslatorFactory())} besides.
 */
public final class SaccadeZoo extends ModelZoo {

    /** The group of all its models. */
    public static final String GROUP = "dev.saccade";

    /** Makes the zoo of all recipes that come with the library. */
    public SaccadeZoo() {
        RecipeRepository repository = new RecipeRepository(Zoo.packaged());
        repository.getResources().forEach(mrl -> addModel(new CheckpointLoader(mrl)));
    }

    private SaccadeZoo(CheckpointLoader only) {
        addModel(only);
    }

    /**
     * Returns a zoo of one model, which needs neither factories nor options: that of a checkpoint
     * of a run.
     *
     * @param checkpoint the file, or a folder with no other checkpoint in it
     * @throws SaccadeException of kind user, if the file cannot be read or does not say of what
     *     model it is
     */
    public static SaccadeZoo open(Path checkpoint) {
        return new SaccadeZoo(
                CheckpointLoader.open(
                        Files.isDirectory(checkpoint) ? only(checkpoint) : checkpoint));
    }

    private static Path only(Path folder) {
        List<Path> checkpoints = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.safetensors")) {
            files.forEach(checkpoints::add);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be listed: %s", folder, e.getMessage());
        }
        if (checkpoints.size() != 1) {
            throw SaccadeException.user(
                    "%s: holds %d checkpoints, expected one; name the file",
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

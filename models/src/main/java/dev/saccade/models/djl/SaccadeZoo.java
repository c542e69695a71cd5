package dev.saccade.models.djl;

import ai.djl.repository.zoo.ModelZoo;

import dev.saccade.core.SaccadeException;
import dev.saccade.models.zoo.Zoo;

import java.nio.file.Path;
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
 * <p>A checkpoint of a run needs no recipe: {@code optModelZoo(SaccadeZoo.of(file))}.
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
     * @throws SaccadeException of kind user, if the file cannot be read or does not say of what
     *     model it is
     */
    public static SaccadeZoo of(Path checkpoint) {
        return new SaccadeZoo(CheckpointLoader.of(checkpoint));
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

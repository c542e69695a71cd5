package dev.saccade.djl;

import ai.djl.Model;
import ai.djl.nn.Block;
import ai.djl.nn.BlockFactory;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.core.Devices;
import dev.saccade.core.SaccadeException;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.ScoreThresholds;
import dev.saccade.models.zoo.Recipe;
import dev.saccade.models.zoo.Zoo;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * Creates the block of a checkpoint, including its weights. Set DJL's option {@code hasParameter}
 * to {@code false}, because DJL must not load a parameter file.
 *
 * <p>Arguments: {@value #CHECKPOINT}, an absolute path or a file in the model folder, optional if
 * the model path is the checkpoint; {@value #RECIPE}, the name of a recipe, for checkpoints that do
 * not describe their model; and {@value #THRESHOLD}.
 *
 * <p>Use the translators of {@link SaccadeTranslatorFactory}.
 */
public final class SaccadeBlockFactory implements BlockFactory {

    /** Argument for the checkpoint. */
    public static final String CHECKPOINT = "checkpoint";

    /** Argument for a recipe, such as {@code mask_rcnn/swin_tiny_fpn_1x_coco}. */
    public static final String RECIPE = "recipe";

    /** Argument for the minimum score; by default the checkpoint's recommended score. */
    public static final String THRESHOLD = "threshold";

    private static final long serialVersionUID = 1L;

    /**
     * {@inheritDoc}
     *
     * @throws SaccadeException of kind user, if the checkpoint is missing or does not match the
     *     recipe, an argument is invalid, or the device is not available
     */
    @Override
    public Block newBlock(Model model, Path folder, Map<String, ?> arguments) {
        Path file = file(model, folder, arguments);
        Checkpoint checkpoint = Checkpoints.open(file);
        ModelSpec spec = spec(checkpoint, file, argument(arguments, RECIPE));
        Devices.local().require(model.getNDManager().getDevice());
        return PredictionBlock.of(
                spec,
                spec.restore(checkpoint, file.toString(), model.getNDManager()),
                thresholds(checkpoint, file, argument(arguments, THRESHOLD)));
    }

    private static ScoreThresholds thresholds(
            Checkpoint checkpoint, Path file, Optional<String> argument) {
        if (argument.isEmpty()) {
            return ScoreThresholds.find(checkpoint.metadata(), file.toString())
                    .orElse(ScoreThresholds.DEFAULT)
                    .uniform();
        }
        try {
            return ScoreThresholds.of(Double.parseDouble(argument.get()));
        } catch (NumberFormatException e) {
            throw SaccadeException.user(
                    e, "%s: got %s, expected a number from 0 to 1", THRESHOLD, argument.get());
        }
    }

    private static Optional<String> argument(Map<String, ?> arguments, String name) {
        return Optional.ofNullable(arguments.get(name)).map(Object::toString);
    }

    private static Path file(Model model, Path folder, Map<String, ?> arguments) {
        String name = argument(arguments, CHECKPOINT).orElse(model.getName());
        Path file = folder.resolve(name);
        if (!Files.isRegularFile(file)) {
            throw SaccadeException.user(
                    "%s: no such file; set the argument %s to the checkpoint", file, CHECKPOINT);
        }
        return file;
    }

    private static ModelSpec spec(Checkpoint checkpoint, Path file, Optional<String> name) {
        if (name.isEmpty()) {
            return ModelSpec.fromMetadata(checkpoint.metadata(), file.toString());
        }
        Recipe recipe = Zoo.packaged().recipe(name.get());
        ModelSpec spec =
                ModelSpec.find(checkpoint.metadata(), file.toString()).orElseGet(recipe::spec);
        if (spec.model().head().targets() != recipe.targets()) {
            throw SaccadeException.user(
                    "%s: the model has a %s head, which does not match recipe %s",
                    file, spec.model().head().type(), recipe.name());
        }
        return spec;
    }
}

package dev.saccade.cli;

import ai.djl.ndarray.NDManager;

import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.checkpoint.pytorch.TorchFile;
import dev.saccade.checkpoint.weights.Naming;
import dev.saccade.core.Count;
import dev.saccade.core.Devices;
import dev.saccade.core.Libtorch;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.models.Model;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.zoo.Zoo;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Optional;

/** Converts checkpoints without executing code in them. */
@Command(
        name = "convert",
        description =
                "Convert a checkpoint between .pth and .safetensors, and between"
                        + " the parameter names of different libraries. With --recipe,"
                        + " the result also works with predict, eval, serve and export.",
        footer = {
            "",
            "Example:  saccade convert resnet50.pth resnet50.safetensors",
            "          saccade convert best.safetensors swin.pth --names timm --part backbone",
            "          saccade convert timm.safetensors swin.safetensors --recipe"
                    + " swin_tiny_imagenet"
        })
final class ConvertCommand extends BaseCommand {

    @Parameters(
            index = "0",
            paramLabel = "FROM",
            description = "Read this checkpoint, or the best checkpoint of this run.")
    private Path from;

    @Parameters(
            index = "1",
            paramLabel = "TO",
            description =
                    "Write this file; its extension, .pth or .safetensors,"
                            + " selects the format.")
    private Path to;

    @Option(
            names = "--names",
            paramLabel = "NAMES",
            description =
                    "Use the parameter names of this library:"
                            + " ${COMPLETION-CANDIDATES}. Default: keep the names.",
            completionCandidates = Libraries.class)
    private Optional<String> names = Optional.empty();

    @Option(
            names = "--part",
            paramLabel = "PART",
            description =
                    "Convert only this component, such as backbone, and remove"
                            + " the prefix of its parameters.")
    private Optional<String> part = Optional.empty();

    @Option(names = "--ema", description = "Use the EMA weights of FROM, such as state_dict_ema.")
    private boolean ema;

    @Option(
            names = "--recipe",
            paramLabel = "RECIPE",
            description =
                    "Store the model, transforms and classes of this bundled config in TO,"
                            + " for weights of other libraries.")
    private Optional<Path> recipe = Optional.empty();

    @Option(names = "--force", description = "Overwrite TO if it exists.")
    private boolean force;

    static final class Libraries implements Iterable<String> {

        @Override
        public Iterator<String> iterator() {
            return Naming.libraries().iterator();
        }
    }

    @Override
    public Integer call() {
        Optional<Naming> naming = names.map(Naming::of);
        if (Files.exists(to) && !force) {
            throw SaccadeException.user("%s: already exists; add --force to overwrite it", to);
        }
        if (recipe.isPresent() && (names.isPresent() || part.isPresent())) {
            throw SaccadeException.user(
                    "--recipe cannot be combined with --names or --part; it writes a whole model"
                            + " with Saccade's parameter names");
        }
        Path weights = requireCheckpoint(from);
        Checkpoint checkpoint = ema ? TorchFile.readAveraged(weights) : Checkpoints.open(weights);
        for (String note : checkpoint.notes()) {
            err().println(Printable.line(note));
        }
        if (naming.isPresent()) {
            checkpoint = Naming.toSaccade(checkpoint);
        }
        if (part.isPresent()) {
            checkpoint = checkpoint.part(part.get());
        }
        if (naming.isPresent()) {
            checkpoint = naming.get().fromSaccade(checkpoint);
        }
        if (recipe.isPresent()) {
            saveModel(checkpoint, recipe.get());
        } else {
            save(checkpoint);
        }
        return 0;
    }

    private void save(Checkpoint checkpoint) {
        Checkpoints.save(to, checkpoint);
        String tensors = Count.of(checkpoint.tensors().size(), "tensor");
        printMessage("%s: %s written", to, tensors);
    }

    /** Loads the weights into the model of a recipe, and saves both. */
    private void saveModel(Checkpoint checkpoint, Path named) {
        if (ModelSpec.find(checkpoint.metadata(), from.toString()).isPresent()) {
            throw SaccadeException.user(
                    "%s: already describes its model; convert it without --recipe", from);
        }
        String name = RecipeNames.require(named, "a bundled config, such as swin_tiny_imagenet");
        ModelSpec spec = Zoo.packaged().recipe(name).spec();
        try (NDManager manager = Libtorch.newManager(Devices.local().choose("cpu"))) {
            Model<?> model = spec.restore(checkpoint, from.toString(), manager);
            save(Checkpoint.of(model, spec.toMetadata()));
        }
    }

    /** Returns the given checkpoint, or the best or else the last checkpoint of a run. */
    static Path requireCheckpoint(Path file) {
        PathKind.require(
                file,
                "a checkpoint, such as checkpoints/best.safetensors of a run",
                PathKind.CHECKPOINT,
                PathKind.RUN,
                PathKind.OTHER_FILE);
        return RunArgument.weightsOf(file);
    }
}

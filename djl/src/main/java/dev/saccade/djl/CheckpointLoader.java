package dev.saccade.djl;

import ai.djl.Application;
import ai.djl.MalformedModelException;
import ai.djl.repository.MRL;
import ai.djl.repository.Repository;
import ai.djl.repository.zoo.BaseModelLoader;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ModelNotFoundException;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.util.Progress;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.core.Devices;
import dev.saccade.core.Libtorch;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.models.ModelSpec;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Loads a model from a checkpoint and a recipe, or from a run's checkpoint. */
final class CheckpointLoader extends BaseModelLoader {

    static final String ENGINE = "PyTorch";

    private final Optional<Path> checkpoint;

    /** Creates the loader of a recipe; the checkpoint is an argument of DJL's criteria. */
    CheckpointLoader(MRL recipe) {
        this(recipe, Optional.empty());
    }

    private CheckpointLoader(MRL mrl, Optional<Path> checkpoint) {
        super(mrl);
        this.checkpoint = checkpoint;
    }

    /** Creates the loader of a run's checkpoint; throws if it does not describe its model. */
    static CheckpointLoader open(Path file) {
        ModelSpec spec = ModelSpec.fromMetadata(Checkpoints.open(file).metadata(), file.toString());
        Application application = RecipeRepository.application(spec.model().head().targets());
        Repository folder = Repository.newInstance(SaccadeZoo.GROUP, file);
        MRL mrl = folder.model(application, SaccadeZoo.GROUP, file.getFileName().toString());
        return new CheckpointLoader(mrl, Optional.of(file));
    }

    @Override
    public <I, O> ZooModel<I, O> loadModel(Criteria<I, O> criteria)
            throws IOException, ModelNotFoundException, MalformedModelException {
        Optional<Path> file = file(criteria);
        if (file.isEmpty()) {
            throw missingWeights(criteria);
        }
        // Applies Saccade's settings before DJL loads libtorch.
        Libtorch.engine();
        if (!Files.isRegularFile(file.get())) {
            throw SaccadeException.user("%s: no such file; expected a checkpoint", file.get());
        }
        Map<String, Object> arguments = copy(criteria.getArguments());
        arguments.put(SaccadeBlockFactory.CHECKPOINT, file.get().toAbsolutePath().toString());
        arguments.put("blockFactory", SaccadeBlockFactory.class.getName());
        if (checkpoint.isEmpty()) {
            arguments.put(SaccadeBlockFactory.RECIPE, mrl.getArtifactId());
        }
        Map<String, String> options = copy(criteria.getOptions());
        options.put("hasParameter", "false");
        Criteria.Builder<I, O> builder =
                criteria.toBuilder()
                        .optGroupId(null)
                        .optArtifactId(null)
                        .optEngine(ENGINE)
                        .optModelPath(file.get())
                        .optArguments(arguments)
                        .optOptions(options);
        if (criteria.getDevice() == null) {
            builder.optDevice(Devices.local().choose(Devices.AUTO));
        }
        if (criteria.getTranslatorFactory() == null) {
            builder.optTranslatorFactory(new SaccadeTranslatorFactory());
        }
        return builder.build().loadModel();
    }

    private static <V> Map<String, V> copy(Map<String, V> given) {
        return given == null ? new HashMap<>() : new HashMap<>(given);
    }

    private Optional<Path> file(Criteria<?, ?> criteria) {
        Object named = copy(criteria.getArguments()).get(SaccadeBlockFactory.CHECKPOINT);
        return named == null ? checkpoint : Optional.of(Path.of(named.toString()));
    }

    /**
     * Returns the error for missing weights. Throws a user error if the criteria name this recipe;
     * otherwise DJL tries the next matching model.
     */
    private ModelNotFoundException missingWeights(Criteria<?, ?> criteria) {
        String message =
                Text.format(
                        "%s: a recipe has no weights; set a checkpoint of its authors or"
                                + " of a run with optArgument(\"%s\", file)",
                        mrl.getArtifactId(), SaccadeBlockFactory.CHECKPOINT);
        if (mrl.getArtifactId().equals(criteria.getArtifactId())) {
            throw SaccadeException.user("%s", message);
        }
        return new ModelNotFoundException(message);
    }

    @Override
    public <I, O> boolean isDownloaded(Criteria<I, O> criteria) {
        return file(criteria).isPresent();
    }

    @Override
    public <I, O> void downloadModel(Criteria<I, O> criteria, Progress progress)
            throws ModelNotFoundException {
        if (!isDownloaded(criteria)) {
            throw missingWeights(criteria);
        }
    }
}

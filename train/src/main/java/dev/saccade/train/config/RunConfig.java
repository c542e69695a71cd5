package dev.saccade.train.config;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.config.Configs;
import dev.saccade.core.Checks;
import dev.saccade.core.Devices;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.parts.Default;
import dev.saccade.core.parts.TargetKind;
import dev.saccade.datasets.Transform;
import dev.saccade.eval.Evaluator;
import dev.saccade.eval.Evaluators;
import dev.saccade.models.ModelConfig;
import dev.saccade.models.zoo.PretrainedWeights;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.optimizers.ModelEma;
import dev.saccade.train.optimizers.Optimizer;
import dev.saccade.train.schedules.RunLength;
import dev.saccade.train.schedules.Schedule;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A whole run, as one YAML file describes it.
 *
 * @param model the parts of the model
 * @param data what is learned from
 * @param optimizer how weights follow gradients
 * @param schedule the course of the learning rate
 * @param epochs passes over the training data
 * @param iterations optimizer steps; where given they count instead of {@code epochs}
 * @param accumulation batches whose gradients are averaged for one optimizer step, on each rank
 * @param maxGradientNorm what the norm of all gradients is clipped to; not clipped by default
 * @param referenceBatch images a step for which the learning rate is stated: it is scaled in
 *     proportion to the images that a step really has; not scaled by default
 * @param seed the seed of weights, order and augmentation
 * @param device what computes: {@code auto} for the first GPU, if one can be used, else the CPU;
 *     {@code cpu}; {@code cuda}, or {@code cuda:1}
 * @param precision what is computed in, in training and evaluation: {@code float32}; {@code
 *     bfloat16}, where the device has products of it; or {@code float16}, whose losses are scaled.
 *     Weights, losses and metrics are float32
 * @param allowTf32 whether GPUs may multiply float32 with ten bits of their fractions, which is
 *     several times faster and less exact
 * @param ema how the weights are averaged over the steps; where it is given, the averages are
 *     measured and are what checkpoints give to those who load them
 * @param evaluation when to evaluate, and what counts
 * @param checkpoint when to save
 * @param logInterval optimizer steps between two lines of the logs
 * @param initFrom whose weights the run starts from: a checkpoint, or {@link PretrainedWeights} by
 *     name; {@code none} trains from scratch
 * @param hooks what acts in the run besides the loop
 */
public record RunConfig(
        ModelConfig model,
        DataConfig data,
        @Default("{type: sgd}") Optimizer.Config optimizer,
        @Default("{type: step}") Schedule schedule,
        @Default("12") int epochs,
        Optional<Long> iterations,
        @Default("1") int accumulation,
        Optional<Double> maxGradientNorm,
        Optional<Integer> referenceBatch,
        @Default("0") long seed,
        @Default("auto") String device,
        @Default("float32") Precision precision,
        @Default("false") boolean allowTf32,
        Optional<ModelEma.Config> ema,
        EvaluationConfig evaluation,
        CheckpointConfig checkpoint,
        @Default("50") int logInterval,
        Optional<String> initFrom,
        @Default("[]") List<Hook.Config> hooks) {

    /** Checks the values. */
    public RunConfig {
        hooks = List.copyOf(hooks);
        new Checks()
                .inRange("epochs", epochs, 1, 1_000_000)
                .inRange("iterations", iterations, 1, 1e9)
                .inRange("accumulation", accumulation, 1, 10_000)
                .inRange("max_gradient_norm", maxGradientNorm, 1e-9, 1e9)
                .inRange("reference_batch", referenceBatch, 1, 1_000_000)
                .inRange("log_interval", logInterval, 1, 1_000_000)
                .size("hooks", hooks, 0, 100)
                .throwIfAny();
        Checks.require(Devices.isName(device), "device", device, "%s", Devices.EXPECTED);
        checkTransforms(data.trainTransforms(), model.head().targets());
    }

    private static void checkTransforms(List<Transform> transforms, TargetKind targets) {
        for (int i = 0; i < transforms.size(); i++) {
            Optional<String> fault = transforms.get(i).fault(targets);
            checkArgument(fault.isEmpty(), "data.train_transforms[%s]: %s", i, fault.orElse(""));
        }
    }

    /**
     * Returns the run that a YAML file describes.
     *
     * @param overrides settings such as {@code model.backbone.depth=50}, laid over the file in
     *     their order; what {@code --set} takes on the command line
     * @throws SaccadeException of kind user that lists every unknown key, wrong type, unknown
     *     component and impossible value with file, line and dotted key
     */
    public static RunConfig load(Path file, String... overrides) {
        ConfigNode.Mapping config = ConfigFile.load(file, List.of());
        return Configs.bind(
                Configs.overridden(config, Arrays.asList(overrides), RunConfig.class),
                RunConfig.class);
    }

    /**
     * Returns the run that a text describes, in YAML without {@code base}.
     *
     * @throws SaccadeException of kind user that lists every mistake with its line
     */
    public static RunConfig parse(String yaml) {
        return Configs.bind(ConfigFile.parse(yaml, "config"), RunConfig.class);
    }

    /**
     * Returns the same run with other settings.
     *
     * @param overrides settings such as {@code model.backbone.depth=50}, as {@link #load} takes
     *     them; another {@code type} or {@code variant} brings its own defaults
     * @throws SaccadeException of kind user that lists every mistake
     */
    public RunConfig with(String... overrides) {
        return Configs.with(this, overrides);
    }

    /** Returns the same run but for the data sets, which a program gives. */
    public RunConfig withoutDatasets() {
        return with("data.train=null", "data.val=null");
    }

    /**
     * Returns the file that the run starts from, if it starts from any. A file of the name counts
     * before published weights of the name.
     *
     * @throws SaccadeException of kind user that says what to do, if there is neither, or if the
     *     published weights are not here or of another backbone
     */
    public Optional<InitialWeights> initialWeights() {
        return initFrom.filter(name -> !name.equals(InitialWeights.NONE))
                .map(name -> InitialWeights.find(name, model.backbone()));
    }

    /** Returns the name of the metric by which the best checkpoint is told. */
    public String monitor() {
        return evaluation.monitor().orElseGet(() -> evaluators().get(0).keyMetric());
    }

    /** Returns what measures: what is named, else what is standard for the head. */
    public List<Evaluator.Config> evaluators() {
        return evaluation.evaluators().isEmpty()
                ? Evaluators.standard(model.head().targets())
                : evaluation.evaluators();
    }

    /** Returns the batches of one optimizer step of some ranks. */
    public int batchesPerStep(int worldSize) {
        return accumulation * worldSize;
    }

    /** Returns the images of one optimizer step of some ranks. */
    public int imagesPerStep(int worldSize) {
        return data.batchSize() * batchesPerStep(worldSize);
    }

    /** Returns the learning rate of the optimizer, scaled to the images of a step of some ranks. */
    public double learningRate(int worldSize) {
        double images = imagesPerStep(worldSize);
        return optimizer.learningRate() * referenceBatch.map(stated -> images / stated).orElse(1.0);
    }

    /**
     * Returns how long the run lasts.
     *
     * @param batchesPerEpoch batches of one pass over the training data; a last group of fewer
     *     batches than make a step is a step as well
     * @param worldSize ranks that part the batches among them
     */
    public RunLength length(int batchesPerEpoch, int worldSize) {
        int perStep = batchesPerStep(worldSize);
        long perEpoch = (batchesPerEpoch + perStep - 1L) / perStep;
        return iterations
                .map(n -> new RunLength(n, perEpoch))
                .orElseGet(() -> RunLength.ofEpochs(epochs, perEpoch));
    }
}

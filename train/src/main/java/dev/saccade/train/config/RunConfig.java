package dev.saccade.train.config;

import static com.google.common.base.Preconditions.checkArgument;

import dev.saccade.checkpoint.weights.StemInit;
import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.core.Checks;
import dev.saccade.core.Devices;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.nn.Precision;
import dev.saccade.datasets.BatchAugment;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.pillow.RandomResizedCrop;
import dev.saccade.eval.CompositeEvaluator;
import dev.saccade.eval.Evaluator;
import dev.saccade.models.ModelConfig;
import dev.saccade.models.zoo.PretrainedWeights;
import dev.saccade.models.zoo.Zoo;
import dev.saccade.train.hooks.Hook;
import dev.saccade.train.optimizers.ModelEma;
import dev.saccade.train.optimizers.Optimizer;
import dev.saccade.train.schedules.RunLength;
import dev.saccade.train.schedules.Schedule;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;

/**
 * A run, as described by a YAML file.
 *
 * @param iterations number of optimizer steps; overrides {@code epochs}
 * @param accumulation batches per optimizer step and rank; their gradients are averaged
 * @param maxGradientNorm clips the norm of all gradients; off by default
 * @param referenceBatch images per step that the learning rate is meant for; the rate is scaled
 *     linearly to the actual images per step. No scaling by default
 * @param seed of initial weights, sample order and augmentation
 * @param device {@code auto} for the first usable GPU, else the CPU; {@code cpu}; {@code cuda}; or
 *     {@code cuda:1}
 * @param precision of training and evaluation: {@code float32}; {@code bfloat16}, if the device
 *     supports it; or {@code float16} with loss scaling. Weights, losses and metrics are float32
 * @param allowTf32 whether GPUs may multiply float32 as TF32, which is several times faster and
 *     less precise
 * @param ema averages the weights; evaluations and saved checkpoints use the averages
 * @param logInterval optimizer steps per log line
 * @param initFrom a checkpoint or the name of {@link PretrainedWeights}; {@code none} trains from
 *     scratch
 * @param stemInit how weights of RGB images initialize the first layers of a model of other
 *     channels
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
        @Default("copy") StemInit stemInit,
        @Default("[]") List<Hook.Config> hooks) {

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
        Checks.require(
                data.size().cropSize().isEmpty()
                        || data.trainTransforms().stream()
                                .noneMatch(RandomResizedCrop.class::isInstance),
                "data.crop_size",
                data.size().cropSize().orElse(List.of()),
                "none with random_resized_crop; set image_size");
        Checks.require(
                data.batchAugments().isEmpty() || model.head().targets() == TargetKind.CLASSES,
                "data.batch_augments",
                data.batchAugments().stream().map(BatchAugment::type).toList(),
                "none for a detector or segmenter; use mixup, mosaic or copy_paste in"
                        + " train_transforms");
        Checks.require(
                data.numLastEpochs() == 0 || iterations.isEmpty(),
                "data.num_last_epochs",
                data.numLastEpochs(),
                "0 for a run of iterations; set epochs instead of iterations");
        Checks.require(
                data.numLastEpochs() <= epochs,
                "data.num_last_epochs",
                data.numLastEpochs(),
                "at most epochs: %s",
                epochs);
    }

    private static void checkTransforms(List<Transform> transforms, TargetKind targets) {
        for (int i = 0; i < transforms.size(); i++) {
            Optional<String> fault = transforms.get(i).incompatibility(targets);
            checkArgument(fault.isEmpty(), "data.train_transforms[%s]: %s", i, fault.orElse(""));
        }
    }

    /**
     * Loads a YAML file.
     *
     * @param overrides settings such as {@code model.backbone.depth=50}, applied in order
     * @throws SaccadeException of kind user that lists every unknown key, wrong type, unknown
     *     component and invalid value with file, line and dotted key
     */
    public static RunConfig load(Path file, String... overrides) {
        ConfigNode.Mapping config = ConfigFile.load(file, List.of());
        return Configs.bind(
                Configs.withOverrides(config, Arrays.asList(overrides), RunConfig.class),
                RunConfig.class);
    }

    /** Parses YAML without {@code base}. Errors are listed with their lines. */
    public static RunConfig parse(String yaml) {
        return Configs.bind(ConfigFile.parse(yaml, "config"), RunConfig.class);
    }

    /**
     * Loads a bundled config.
     *
     * @param name path below {@code configs/}, such as {@code mask_rcnn/swin_tiny_fpn_1x_coco}
     * @throws SaccadeException of kind user if it does not exist
     */
    public static RunConfig recipe(String name) {
        ConfigNode.Mapping config;
        try {
            config = ConfigFile.packaged(name + ".yaml");
        } catch (SaccadeException e) {
            // Suggests similar names.
            config = Zoo.packaged().recipe(name).config();
        }
        return Configs.bind(config, RunConfig.class);
    }

    /** Returns the run as YAML with all settings, which {@link #parse} reads. */
    public String toYaml() {
        return ConfigWriter.yaml(Configs.unbind(this));
    }

    /** Returns a builder that changes settings by typed methods. */
    public RunConfigBuilder toBuilder() {
        return new RunConfigBuilder(this);
    }

    /**
     * Returns the run with other settings. A different {@code type} or {@code variant} resets the
     * other settings of its component to defaults.
     */
    public RunConfig with(String... overrides) {
        return Configs.with(this, overrides);
    }

    /** Returns the run without data sets, for programs that provide them. */
    public RunConfig withoutDatasets() {
        return with("data.train=null", "data.val=null");
    }

    /** Returns the training transforms of each epoch, counted from 0. */
    public IntFunction<List<Transform>> trainTransforms() {
        List<Transform> first = data.trainTransformsAtSize();
        List<Transform> last = data.lastTransformsAtSize();
        int switchEpoch = epochs - data.numLastEpochs();
        return epoch -> epoch < switchEpoch || data.numLastEpochs() == 0 ? first : last;
    }

    /**
     * Finds the file of {@code init_from}; empty for random initial weights. Existing files take
     * precedence over published weights.
     *
     * @throws SaccadeException of kind user, if neither exists, or the published weights are not
     *     downloaded or belong to another backbone
     */
    public Optional<InitialWeights> initialWeights() {
        return initFrom.filter(name -> !name.equals(InitialWeights.NONE))
                .map(name -> InitialWeights.find(name, model.backbone()));
    }

    /** Returns the name of the metric that selects the best checkpoint. */
    public String monitor() {
        return evaluation.monitor().orElseGet(() -> evaluators().get(0).keyMetric());
    }

    /** Returns the evaluators of the config, or else the default evaluators of the head. */
    public List<Evaluator.Config> evaluators() {
        return evaluation.evaluators().isEmpty()
                ? CompositeEvaluator.defaults(model.head().targets())
                : evaluation.evaluators();
    }

    public int batchesPerStep(int worldSize) {
        return accumulation * worldSize;
    }

    public int imagesPerStep(int worldSize) {
        return data.batchSize() * batchesPerStep(worldSize);
    }

    /**
     * Returns the learning rate, scaled to the images per step relative to {@code reference_batch}.
     */
    public double learningRate(int worldSize) {
        return optimizer.learningRate() * batchFactor(worldSize);
    }

    /** Returns the images per step relative to {@code reference_batch}; 1 if not set. */
    public double batchFactor(int worldSize) {
        double images = imagesPerStep(worldSize);
        return referenceBatch.map(stated -> images / stated).orElse(1.0);
    }

    /** Returns the length of the run. The last step of an epoch may have fewer batches. */
    public RunLength length(int batchesPerEpoch, int worldSize) {
        int perStep = batchesPerStep(worldSize);
        return lengthInSteps((batchesPerEpoch + perStep - 1L) / perStep);
    }

    /** Returns the length of a run with this number of steps per epoch. */
    public RunLength lengthInSteps(long stepsPerEpoch) {
        return iterations
                .map(n -> new RunLength(n, stepsPerEpoch))
                .orElseGet(() -> RunLength.ofEpochs(epochs, stepsPerEpoch));
    }
}

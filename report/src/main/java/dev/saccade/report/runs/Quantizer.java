package dev.saccade.report.runs;

import ai.djl.Device;

import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Maps;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.checkpoint.Checkpoint;
import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.core.Devices;
import dev.saccade.core.Problems;
import dev.saccade.core.ProgressBar;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.nn.Quantization;
import dev.saccade.core.ops.memory.TensorMemory;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetSubset;
import dev.saccade.datasets.loader.InferenceInput;
import dev.saccade.eval.CompositeEvaluator;
import dev.saccade.eval.DatasetInference;
import dev.saccade.eval.Evaluator;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.TrainedModel;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.data.DataReports;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Quantizes the layers of a trained model, for faster predictions on CPUs. Writes the model only if
 * its metrics on the validation set do not drop by more than a limit.
 *
 * <p>Starts with all {@linkplain Quantization#layers layers} that can be quantized. While a metric
 * on a sample of training images drops by more than the limit, another 10 % of the layers stay in
 * float, beginning with the largest {@linkplain Quantization#errors errors}. The validation set
 * does not affect the selection.
 *
 * <p>A metric that increases has not dropped. With few objects, the metrics of the sample are
 * noisy, so an acceptable selection can fail on the validation set; use more images then. A sample
 * without objects accepts any selection.
 */
public final class Quantizer {

    /** Evaluates a model. */
    @FunctionalInterface
    interface Metrics {

        /**
         * Returns metrics by name; higher is better. Undefined metrics are missing.
         *
         * @param task name for the progress bar
         */
        Map<String, Double> evaluate(TrainedModel<?> model, Dataset dataset, String task);
    }

    /**
     * Settings.
     *
     * @param maxDrop maximum drop of AP, mask AP or mIoU, from 0 to 1
     * @param images number of training images on which layers are selected
     * @param overwrite whether to replace an existing file
     */
    public record Settings(double maxDrop, int images, boolean overwrite) {

        public static final double MAX_DROP = 0.003;

        public static final int IMAGES = 64;

        public static final Settings DEFAULT = new Settings(MAX_DROP, IMAGES, false);
    }

    /** Metrics that must not drop. */
    private static final Set<String> METRICS = ImmutableSet.of("AP", "mask_AP", "mIoU");

    /**
     * Maximum number of validation images on which also the other precisions are evaluated; with
     * more images, this would take too long.
     */
    private static final int MAX_COMPARED_IMAGES = 500;

    private static final String VALIDATION = "validation";
    private static final String TRAINING = "training";

    /** Number of steps until all layers are in float. */
    private static final int STEPS = 10;

    /** Precision of all other layers; {@link Quantization#isFast} implies native support. */
    private static final Precision PRECISION = Precision.BFLOAT16;

    private final RunConfig config;
    private final Settings settings;
    private final ProgressBar.Factory bars;
    private final Metrics metrics;

    /** Prepares to quantize checkpoints of a run. */
    public Quantizer(RunConfig config, Settings settings, ProgressBar.Factory bars) {
        this.config = config;
        this.settings = settings;
        this.bars = bars;
        this.metrics = this::evaluate;
    }

    /** Prepares to quantize with other metrics. */
    Quantizer(RunConfig config, Settings settings, ProgressBar.Factory bars, Metrics metrics) {
        this.config = config;
        this.settings = settings;
        this.bars = bars;
        this.metrics = metrics;
    }

    /**
     * Quantizes a checkpoint and writes it to {@code out} atomically. The weights stay float32.
     *
     * @throws SaccadeException of kind user, if the processor lacks instructions, a setting or the
     *     data is unsuitable, or a metric drops too much. In this case, nothing is written
     */
    public QuantizedModel write(Path checkpoint, Path out) {
        Checkpoint stored = Checkpoints.open(checkpoint);
        ModelSpec spec = ModelSpec.fromMetadata(stored.metadata(), checkpoint.toString());
        requireUsable(checkpoint, spec, out);
        AtomicFile.removeTemporaryFilesOf(out);
        Dataset val = DataReports.validationSet(config);
        Dataset train = DataReports.trainingSet(config, "quantization");
        DatasetSubset sample = DatasetSubset.spread(train, settings.images);
        Device cpu = Devices.local().choose("cpu");
        try (TrainedModel<?> model = TrainedModel.load(checkpoint, cpu);
                TrainedModel<?> quantized =
                        TrainedModel.load(checkpoint, cpu).withPrecision(PRECISION)) {
            List<String> candidates = Quantization.layers(model.model());
            if (candidates.isEmpty()) {
                throw SaccadeException.user(
                        "%s: no layer can be quantized; expected at least 16 input and"
                                + " output channels",
                        checkpoint);
            }
            String original = QuantizedModel.name(spec.precision());
            Map<String, Double> before = metrics.evaluate(model, val, task(original, VALIDATION));
            Map<String, Double> errors = errors(model, candidates, sample);
            List<String> layers = select(model, quantized, errors, sample);
            Map<String, Double> after =
                    metrics.evaluate(quantized, val, task(QuantizedModel.QUANTIZED, VALIDATION));
            requireSmallDrop(checkpoint, val.size(), before, after);
            Map<String, TrainedModel<?>> models = new LinkedHashMap<>();
            Map<String, Map<String, Double>> results = new HashMap<>();
            for (Precision precision : precisions(spec)) {
                String name = QuantizedModel.name(precision);
                TrainedModel<?> variant = model.withPrecision(precision);
                models.put(name, variant);
                results.put(name, name.equals(original) ? before : compared(variant, val));
            }
            models.put(QuantizedModel.QUANTIZED, quantized);
            results.put(QuantizedModel.QUANTIZED, after);
            QuantizedModel result =
                    new QuantizedModel(
                            out,
                            sample.size(),
                            val.size(),
                            spec.precision(),
                            PRECISION,
                            variants(models, results, checkpoint, layers, val),
                            layers,
                            Maps.filterKeys(errors, name -> !layers.contains(name)));
            save(stored, spec.withPrecision(PRECISION).withQuantizedLayers(layers), out);
            return result;
        }
    }

    /** Returns the precisions to compare: float32, bfloat16 and that of the run. */
    private static Set<Precision> precisions(ModelSpec spec) {
        return ImmutableSet.of(Precision.FLOAT32, Precision.BFLOAT16, spec.precision());
    }

    private static String task(String model, String images) {
        return Text.format("evaluate %s on %s images", model, images);
    }

    /** Returns metrics of another precision; empty if the validation set is large. */
    private Map<String, Double> compared(TrainedModel<?> model, Dataset val) {
        return val.size() > MAX_COMPARED_IMAGES
                ? Map.of()
                : metrics.evaluate(
                        model,
                        val,
                        task(QuantizedModel.name(model.spec().precision()), VALIDATION));
    }

    private static Map<String, QuantizedModel.Variant> variants(
            Map<String, TrainedModel<?>> models,
            Map<String, Map<String, Double>> metrics,
            Path checkpoint,
            List<String> layers,
            Dataset val) {
        List<Double> latencies = Latency.compare(List.copyOf(models.values()), val);
        Map<String, QuantizedModel.Variant> variants = new LinkedHashMap<>();
        models.forEach(
                (name, model) ->
                        variants.put(
                                name,
                                new QuantizedModel.Variant(
                                        metrics.get(name),
                                        latencies.get(variants.size()),
                                        memory(
                                                checkpoint,
                                                model.spec().precision(),
                                                name.equals(QuantizedModel.QUANTIZED)
                                                        ? layers
                                                        : List.of(),
                                                val))));
        return variants;
    }

    /**
     * Returns the peak memory in bytes of the tensors of a newly loaded model that predicts the
     * first image, including the weights.
     */
    private static long memory(
            Path checkpoint, Precision precision, List<String> layers, Dataset val) {
        Device cpu = Devices.local().choose("cpu");
        long others = TensorMemory.of(cpu).orElseThrow().bytes();
        try (TrainedModel<?> model = TrainedModel.load(checkpoint, cpu).withPrecision(precision);
                InferenceInput image = model.reader().read(val, 0)) {
            Quantization.apply(model.model(), layers);
            // Weights are packed at the first prediction.
            model.predict(image);
            TensorMemory.resetPeak(cpu);
            model.predict(image);
            return TensorMemory.of(cpu).orElseThrow().peakBytes() - others;
        }
    }

    private void requireUsable(Path checkpoint, ModelSpec spec, Path out) {
        Problems problems = new Problems();
        if (!(settings.maxDrop >= 0 && settings.maxDrop <= 1)) {
            problems.add("max-drop: got %s, expected a number from 0 to 1", settings.maxDrop);
        }
        if (settings.images < 1) {
            problems.add("images: got %d, expected 1 or more", settings.images);
        }
        if (!spec.quantizedLayers().isEmpty()) {
            problems.add("the checkpoint is already quantized; use the original checkpoint");
        }
        if (config.data().val().isEmpty()) {
            problems.add("the run has no validation set; set data.val in its config.yaml");
        }
        if (config.data().train().isEmpty()) {
            problems.add("the run has no training set; set data.train in its config.yaml");
        }
        if (!out.toString().endsWith(".safetensors")) {
            problems.add("out: got %s, expected a file that ends in .safetensors", out);
        }
        Path folder = out.toAbsolutePath().getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            problems.add("out: folder %s does not exist; create it", folder);
        }
        if (isSame(checkpoint, out)) {
            problems.add("out: is the original checkpoint; choose another file");
        } else if (Files.isDirectory(out) || (Files.exists(out) && !settings.overwrite)) {
            problems.add("out: %s already exists; choose another file, or set overwrite", out);
        }
        if (!Kernels.status().loaded()) {
            problems.add(
                    "quantized layers need the fused operators, which are off: %s",
                    Kernels.status().reason());
        } else if (!Quantization.isFast()) {
            problems.add(
                    "quantized layers need a processor with AVX-512 VNNI and AVX-512 BF16; use"
                            + " another machine");
        }
        problems.throwIfAny(checkpoint.toString());
    }

    private static boolean isSame(Path checkpoint, Path out) {
        try {
            return Files.exists(out) && Files.isSameFile(checkpoint, out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the error of each candidate; NaN for layers that did not run on these images. */
    private Map<String, Double> errors(
            TrainedModel<?> model, List<String> candidates, Dataset dataset) {
        Map<String, Double> measured;
        try (ProgressBar progress =
                bars.open("compare layers on training images", dataset.size(), " images")) {
            measured =
                    Quantization.errors(
                            () -> {
                                for (int i = 0; i < dataset.size(); i++) {
                                    try (InferenceInput image = model.reader().read(dataset, i)) {
                                        model.predict(image);
                                    }
                                    progress.step();
                                }
                            });
        }
        Map<String, Double> errors = new LinkedHashMap<>();
        candidates.forEach(name -> errors.put(name, measured.getOrDefault(name, Double.NaN)));
        return errors;
    }

    /** Quantizes the largest selection without too large a drop; returns it in model order. */
    private List<String> select(
            TrainedModel<?> model,
            TrainedModel<?> quantized,
            Map<String, Double> errors,
            DatasetSubset sample) {
        String original = QuantizedModel.name(model.spec().precision());
        Map<String, Double> before = metrics.evaluate(model, sample, task(original, TRAINING));
        // NaN is larger than all numbers.
        List<String> ascending =
                errors.keySet().stream().sorted(Comparator.comparing(errors::get)).toList();
        int step = (ascending.size() + STEPS - 1) / STEPS;
        Map<String, Double> after = Map.of();
        for (int count = ascending.size(); count > 0; count -= step) {
            Set<String> chosen = ImmutableSet.copyOf(ascending.subList(0, count));
            List<String> layers = errors.keySet().stream().filter(chosen::contains).toList();
            Quantization.apply(quantized.model(), layers);
            after = metrics.evaluate(quantized, sample, task(QuantizedModel.QUANTIZED, TRAINING));
            if (largeDrops(before, after).isEmpty()) {
                return layers;
            }
        }
        throw SaccadeException.user(
                        "not quantized: on %d training images, %s with at most %d of %d layers"
                                + " quantized, but may drop by at most %s; allow a larger drop or"
                                + " use more images",
                        sample.size(),
                        String.join(", ", largeDrops(before, after)),
                        step,
                        ascending.size(),
                        settings.maxDrop)
                .withSettings("max-drop", "images");
    }

    private void requireSmallDrop(
            Path checkpoint, int images, Map<String, Double> before, Map<String, Double> after) {
        if (before.isEmpty()) {
            throw SaccadeException.user(
                    "%s: not quantized: the metrics of the validation set are undefined; use a"
                            + " validation set with labels of the model's classes",
                    checkpoint);
        }
        List<String> drops = largeDrops(before, after);
        if (!drops.isEmpty()) {
            throw SaccadeException.user(
                            "%s: not quantized: on the %d validation images, %s, but may drop by at"
                                    + " most %s; allow a larger drop or use more images",
                            checkpoint, images, String.join(", ", drops), settings.maxDrop)
                    .withSettings("max-drop", "images");
        }
    }

    private List<String> largeDrops(Map<String, Double> before, Map<String, Double> after) {
        List<String> drops = new ArrayList<>();
        before.forEach(
                (name, value) -> {
                    double other = after.getOrDefault(name, Double.NaN);
                    if (!(value - other <= settings.maxDrop)) {
                        drops.add(Text.format("%s drops from %.4f to %.4f", name, value, other));
                    }
                });
        return drops;
    }

    private Map<String, Double> evaluate(TrainedModel<?> model, Dataset dataset, String task) {
        return model.match(
                detector -> evaluateAs(detector, dataset, task),
                segmenter -> evaluateAs(segmenter, dataset, task));
    }

    private <P> Map<String, Double> evaluateAs(
            TrainedModel<P> model, Dataset dataset, String task) {
        int workers = config.data().workers();
        TargetKind targets = model.spec().model().head().targets();
        List<Evaluator.Config> standard =
                config.evaluators().stream().filter(Evaluator.Config::isDefault).toList();
        CompositeEvaluator<P> evaluator =
                CompositeEvaluator.build(
                        standard.isEmpty() ? CompositeEvaluator.defaults(targets) : standard,
                        model.model().predictionType(),
                        dataset,
                        targets,
                        workers);
        try (ProgressBar progress = bars.open(task, dataset.size(), " images")) {
            new DatasetInference(dataset, workers).run(model, evaluator, progress::to);
        }
        return Maps.filterKeys(evaluator.evaluate().values(), METRICS::contains);
    }

    private static void save(Checkpoint stored, ModelSpec spec, Path out) {
        Map<String, String> metadata = new HashMap<>(stored.metadata());
        metadata.putAll(spec.toMetadata());
        Checkpoints.save(out, new Checkpoint(stored.tensors(), metadata));
    }
}

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
import dev.saccade.eval.LayerSelection;
import dev.saccade.eval.RecordedMetric;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.TrainedModel;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.data.DataReports;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Quantizes the layers of a trained model, for faster predictions on CPUs. Writes the model only if
 * its metrics on the validation set do not drop by more than a limit.
 *
 * <p>A {@link LayerSelection} on a sample of training images chooses the layers by their
 * {@linkplain Quantization#errors errors}. The validation set does not affect the selection.
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
     * @param maxDrop maximum drop of AP, mask AP, mIoU or top-1, from 0 to 1
     * @param images number of training images on which layers are selected
     * @param overwrite whether to replace an existing file
     */
    public record Settings(double maxDrop, int images, boolean overwrite) {

        public static final Settings DEFAULT =
                new Settings(LayerSelection.MAX_DROP, LayerSelection.IMAGES, false);
    }

    /**
     * Maximum number of validation images on which also the other precisions are evaluated; with
     * more images, this would take too long.
     */
    private static final int MAX_COMPARED_IMAGES = 500;

    private static final String VALIDATION = "validation";
    private static final String TRAINING = "training";

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
     * Quantizes a checkpoint and writes it to {@code out} atomically. The weights stay float32. If
     * {@code out} is a symbolic link, writes to its target.
     *
     * @throws SaccadeException of kind user, if the processor lacks instructions, a setting or the
     *     data is unsuitable, or a metric drops too much. In this case, nothing is written
     * @throws SaccadeException if the folder is not writable; checked before any other work
     */
    public QuantizedModel write(Path checkpoint, Path out) {
        Checkpoint stored = Checkpoints.open(checkpoint);
        ModelSpec spec = ModelSpec.fromMetadata(stored.metadata(), checkpoint.toString());
        requireUsable(checkpoint, spec, out);
        Path file = followLinks(out);
        AtomicFile.requireWritable(file);
        AtomicFile.removeTemporaryFilesOf(file);
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
            Map<String, Double> beforeOnSample =
                    metrics.evaluate(model, sample, task(original, TRAINING));
            Map<String, Double> errors = errors(model, candidates, sample);
            LayerSelection selection = new LayerSelection(settings.maxDrop);
            List<String> layers =
                    selection.select(
                            errors,
                            sample.size(),
                            beforeOnSample,
                            some -> {
                                Quantization.apply(quantized.model(), some);
                                return metrics.evaluate(
                                        quantized,
                                        sample,
                                        task(QuantizedModel.QUANTIZED, TRAINING));
                            });
            Map<String, Double> after =
                    metrics.evaluate(quantized, val, task(QuantizedModel.QUANTIZED, VALIDATION));
            selection.requireSmallDrop(checkpoint.toString(), val.size(), before, after);
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
                            notes(stored.metadata(), sample.size(), beforeOnSample, before),
                            layers,
                            Maps.filterKeys(errors, name -> !layers.contains(name)));
            save(stored, spec.withPrecision(PRECISION).withQuantizedLayers(layers), file);
            return result;
        }
    }

    private List<String> notes(
            Map<String, String> metadata,
            int images,
            Map<String, Double> training,
            Map<String, Double> validation) {
        RecordedMetric recorded = RecordedMetric.of(config.monitor(), metadata);
        return Stream.of(
                        LayerSelection.note(images, settings.images),
                        recorded.note(training, TRAINING + " images"),
                        recorded.note(validation, VALIDATION + " images"))
                .flatMap(Optional::stream)
                .toList();
    }

    /** Returns the precisions to compare: float32, bfloat16 and the precision of the run. */
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
        LayerSelection.check(settings.maxDrop, problems);
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
        } else if (Files.isDirectory(out)) {
            problems.add("out: %s is a folder; choose another file", out);
        } else if (Files.isSymbolicLink(out) && !Files.exists(out)) {
            problems.add("out: %s links to a missing file; delete the link", out);
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
        if (Files.exists(out) && !settings.overwrite) {
            throw SaccadeException.user(
                            "%s: already exists; choose another file, or overwrite it", out)
                    .withSettings("out", "overwrite");
        }
    }

    private static Path followLinks(Path file) {
        try {
            return Files.exists(file) ? file.toRealPath() : file;
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be read: %s", file, e.getMessage());
        }
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

    private Map<String, Double> evaluate(TrainedModel<?> model, Dataset dataset, String task) {
        return model.match(
                detector -> evaluateAs(detector, dataset, task),
                segmenter -> evaluateAs(segmenter, dataset, task),
                classifier -> evaluateAs(classifier, dataset, task));
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
        return LayerSelection.metrics(evaluator.evaluate().values());
    }

    private static void save(Checkpoint stored, ModelSpec spec, Path out) {
        Map<String, String> metadata = new HashMap<>(stored.metadata());
        metadata.putAll(spec.toMetadata());
        Checkpoints.save(out, new Checkpoint(stored.tensors(), metadata));
    }
}

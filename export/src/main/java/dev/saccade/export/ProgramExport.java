package dev.saccade.export;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import com.google.common.base.Ascii;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.core.Count;
import dev.saccade.core.Libtorch;
import dev.saccade.core.OutputFolder;
import dev.saccade.core.Printable;
import dev.saccade.core.ProgressBar;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.nn.Quantization;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetSubset;
import dev.saccade.eval.LayerSelection;
import dev.saccade.eval.RecordedMetric;
import dev.saccade.models.Model;
import dev.saccade.models.ModelCard;
import dev.saccade.models.Provenance;
import dev.saccade.models.ScoreThresholds;
import dev.saccade.models.TrainedModel;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Exports a checkpoint with its description, and compares it with the original.
 *
 * @param size fixed image size; any size if empty
 * @param normalize whether the exported model normalizes, and pads for detectors
 * @param opset ONNX operator set; 17 if empty
 * @param images images to compare on; only random images if empty
 * @param calibration images to quantize with, for a quantized checkpoint as float32 ONNX; all
 *     layers are exported in {@code precision} if empty
 * @param out receives the results
 */
public record ProgramExport(
        ExportFormat format,
        Optional<Size> size,
        boolean normalize,
        Precision precision,
        Optional<Integer> opset,
        Optional<Images> images,
        Optional<Calibration> calibration,
        int workers,
        ProgressBar.Factory bars,
        PrintWriter out) {

    /** {@code count} evenly spaced images of a data set. */
    public record Images(Dataset dataset, int count) {}

    /**
     * Selects quantized layers.
     *
     * @param training {@code count} training images, spread over the data set
     * @param selection limit for the metrics on training images and then on {@code images}
     * @param recorded metric of the run
     */
    public record Calibration(Images training, LayerSelection selection, RecordedMetric recorded) {}

    /** Sizes of random images, including sizes that were not recorded. */
    private static final List<Size> SIZES =
            List.of(new Size(192, 256), new Size(257, 193), new Size(1031, 97), new Size(75, 1213));

    /** Exports to a new folder. Fails if the outputs deviate from the original model. */
    public void write(Path checkpoint, Path folder) {
        try (TrainedModel<?> model = TrainedModel.load(checkpoint, Device.cpu());
                OutputFolder target = OutputFolder.create(folder, "export", false, List.of())) {
            Optional<DatasetSubset> subset =
                    images.map(
                            all ->
                                    ComparedImages.of(
                                            all.dataset, model.spec(), size, all.count, bars));
            if (!model.spec().quantizedLayers().isEmpty()) {
                Quantization.apply(model.model(), List.of());
                if (calibration.isEmpty()) {
                    out.println(
                            Printable.format(
                                    "%s: exported without quantization; the exported model"
                                            + " computes all layers in %s",
                                    checkpoint, Ascii.toLowerCase(precision.name())));
                }
            }
            long start = System.nanoTime();
            ModelExport export = record(model);
            String name = "model" + format.suffix();
            Path file = target.resolve(name);
            Optional<Provenance> provenance =
                    Provenance.find(Checkpoints.open(checkpoint).metadata(), checkpoint.toString());
            Map<String, String> metadata = provenance.map(Provenance::toMetadata).orElse(Map.of());
            export.write(format, metadata, file);
            out.println(
                    Printable.format(
                            "%s: %.1f MB, %s, images of %s, in %.1f s",
                            folder.resolve(name),
                            file.toFile().length() / 1e6,
                            Ascii.toLowerCase(precision.name()),
                            size.map(only -> only.height() + "x" + only.width()).orElse("any size"),
                            (System.nanoTime() - start) / 1e9));
            try (ExportCheck check = new ExportCheck(export, format, file)) {
                compareOnRandomImages(check, model.model());
                subset.filter(some -> calibration.isEmpty())
                        .ifPresent(
                                some ->
                                        new ExportComparison(check, some, workers, bars)
                                                .run(model.withPrecision(precision), out));
            }
            List<String> quantized =
                    calibration
                            .map(
                                    some ->
                                            quantize(
                                                    some,
                                                    export,
                                                    model.withPrecision(precision),
                                                    subset.orElseThrow(),
                                                    checkpoint,
                                                    metadata,
                                                    file))
                            .orElse(List.of());
            Optional<ScoreThresholds> thresholds =
                    model.match(
                            detector -> Optional.of(detector.scoreThresholds()),
                            segmenter -> Optional.empty(),
                            classifier -> Optional.empty());
            ModelDescription.of(export, format, model.spec(), thresholds, quantized, provenance)
                    .write(target.resolve("model.json"));
            ModelCard.of(folder, model.spec(), provenance).write(target.resolve(ModelCard.FILE));
            target.finish();
        }
    }

    /** Replaces the file by a quantized model, and returns the names of the quantized layers. */
    private <P> List<String> quantize(
            Calibration settings,
            ModelExport export,
            TrainedModel<P> model,
            Dataset val,
            Path checkpoint,
            Map<String, String> metadata,
            Path file) {
        Images training = settings.training;
        Dataset sample =
                size.isEmpty()
                        ? DatasetSubset.spread(training.dataset, training.count)
                        : ComparedImages.of(
                                training.dataset, model.spec(), size, training.count, bars);
        List<String> layers = new ArrayList<>(Quantization.int8Layers(model.model()));
        layers.retainAll(model.spec().quantizedLayers());
        QuantizedExport.Result quantized =
                new QuantizedExport(export, model, sample, file.getParent(), workers, bars)
                        .quantize(Set.copyOf(layers), settings.selection);
        quantized.export().write(format, metadata, file);
        out.println(
                Printable.format(
                        "quantized: %.1f MB, %d of %d layers in 8 bits, selected on %s",
                        file.toFile().length() / 1e6,
                        quantized.layers().size(),
                        quantized.candidates(),
                        Count.of(sample.size(), "training image")));
        printNote(LayerSelection.note(sample.size(), training.count));
        printNote(settings.recorded.note(quantized.metrics(), "training images"));
        ExportEvaluation evaluation =
                new ExportEvaluation(val, " on validation images", workers, bars);
        try (ExportedModel exported = new ExportedModel(export.settings(), format.open(file))) {
            ExportEvaluation.Result before = evaluation.original(model);
            ExportEvaluation.Result after = evaluation.exported(model, exported);
            before.print("float32", after, "8-bit", exported.program().runtime(), out);
            printNote(settings.recorded.note(before.metrics(), "validation images"));
            settings.selection.requireSmallDrop(
                    checkpoint.toString(),
                    val.size(),
                    LayerSelection.metrics(before.metrics()),
                    LayerSelection.metrics(after.metrics()));
        }
        return quantized.layers();
    }

    private void printNote(Optional<String> note) {
        note.ifPresent(text -> out.println(Printable.format("%s", text)));
    }

    private ModelExport record(TrainedModel<?> model) {
        ModelExport.Settings defaults = ModelExport.of(model.model());
        ModelExport.Settings settings =
                new ModelExport.Settings(
                        model.model(),
                        size,
                        precision,
                        normalize
                                ? Optional.of(InputNormalization.of(model.spec().transforms()))
                                : Optional.empty(),
                        opset.orElse(defaults.opset()));
        return settings.record(List.of(format), bars);
    }

    private void compareOnRandomImages(ExportCheck check, Model<?> model) {
        double limit = ExportCheck.limit(precision);
        double largest = 0;
        List<Size> sizes = size.map(List::of).orElse(SIZES);
        try (ProgressBar progress = bars.open("compare random images", sizes.size(), " images")) {
            for (Size each : sizes) {
                try (NDManager manager = Libtorch.newManager(Device.cpu())) {
                    NDArray pixels =
                            manager.randomUniform(
                                    -2,
                                    2,
                                    new Shape(1, model.inChannels(), each.height(), each.width()));
                    ImageInfo image = ImageInfo.of(0, "random image", each);
                    ImageBatch batch = new ImageBatch(check.padded(pixels), List.of(image));
                    largest = Math.max(largest, check.deviation(batch, limit));
                    check.predict(model, batch);
                }
                progress.step();
            }
        }
        out.println(
                Printable.format(
                        "%s, %s: largest deviation %.1e, expected at most %.0e",
                        check.runtime(), Count.of(sizes.size(), "random image"), largest, limit));
    }
}

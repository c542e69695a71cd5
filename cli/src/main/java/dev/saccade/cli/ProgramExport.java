package dev.saccade.cli;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.cli.terminal.Progress;
import dev.saccade.core.Count;
import dev.saccade.core.Libtorch;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;
import dev.saccade.export.ExportCheck;
import dev.saccade.export.ExportFormat;
import dev.saccade.export.ModelDescription;
import dev.saccade.export.ModelExport;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.TrainedModel;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.data.DataReports;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;

/**
 * Writes a model as a program, describes it, and holds it against the model.
 *
 * @param run what is exported
 * @param size the only size of its images; any if there is none
 * @param normalize whether normalization is part of it
 * @param precision what it computes in
 * @param opset the version of ONNX's operators, if it was named
 * @param data another folder of data than that of the training
 * @param photos on how many photographs of the run it is compared; 0: on made-up images
 * @param out told what was done
 */
record ProgramExport(
        RunArgument run,
        ExportFormat format,
        Optional<Size> size,
        boolean normalize,
        Precision precision,
        Optional<Integer> opset,
        Optional<Path> data,
        int photos,
        PrintWriter out) {

    /** Images that are made up: some are unlike all that were recorded. */
    private static final List<Size> SIZES =
            List.of(new Size(192, 256), new Size(257, 193), new Size(1031, 97), new Size(75, 1213));

    /**
     * Writes a folder, which is there once what it holds has been compared.
     *
     * @param folder new or empty
     */
    void write(Path checkpoint, Path folder) {
        ModelSpec spec =
                ModelSpec.fromMetadata(
                        Checkpoints.open(checkpoint).metadata(), checkpoint.toString());
        Optional<RunConfig> config = photos == 0 ? Optional.empty() : Optional.of(run.config(data));
        Optional<PartOfDataset> part =
                config.map(DataReports::validationSet)
                        .map(dataset -> PartOfDataset.first(dataset, spec, size, photos));
        Path target = folder.toAbsolutePath().normalize();
        Path unfinished = target.resolveSibling(target.getFileName() + ".unfinished");
        createFolder(unfinished);
        try (TrainedModel<?> model = TrainedModel.load(checkpoint, Device.cpu())) {
            long start = System.nanoTime();
            ModelExport export = record(model);
            Path file = unfinished.resolve("model" + format.suffix());
            export.write(format, file);
            say(folder, file, (System.nanoTime() - start) / 1e9);
            ModelDescription.of(
                            export,
                            format,
                            spec,
                            model.match(
                                    detector -> Optional.of(detector.scoreThresholds()),
                                    segmenter -> Optional.empty()))
                    .write(unfinished.resolve("model.json"));
            try (ExportCheck check = new ExportCheck(export, format, file)) {
                compareOnMadeUpImages(check, model);
                if (part.isPresent()) {
                    new ExportComparison(check, part.get(), config.get().data().workers())
                            .run(model.withPrecision(precision), out);
                }
            }
            Files.move(unfinished, target, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", folder, e.getMessage());
        } finally {
            discard(unfinished);
        }
    }

    private ModelExport record(TrainedModel<?> model) {
        ModelExport.Settings settings =
                ModelExport.of(model.model()).format(format).precision(precision);
        size.ifPresent(settings::size);
        opset.ifPresent(settings::opset);
        if (normalize) {
            settings.normalizing(model.spec().transforms());
        }
        try (Progress progress = new Progress("record", settings.recordings(), " sizes")) {
            return settings.progress(progress::to).record();
        }
    }

    private static void createFolder(Path folder) {
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be made: %s", folder, e.getMessage());
        }
    }

    private void say(Path folder, Path file, double seconds) throws IOException {
        out.println(
                Printable.format(
                        "%s: %.1f MB, %s, images of %s, in %.1f s",
                        folder.resolve(file.getFileName()),
                        Files.size(file) / 1e6,
                        ComputeOptions.name(precision),
                        size.map(only -> only.height() + "x" + only.width()).orElse("any size"),
                        seconds));
    }

    private <P> void compareOnMadeUpImages(ExportCheck check, TrainedModel<P> model) {
        double limit = ExportCheck.limit(precision);
        double largest = 0;
        List<Size> sizes = size.map(List::of).orElse(SIZES);
        try (Progress progress = new Progress("compare", sizes.size(), " images")) {
            for (Size each : sizes) {
                try (NDManager manager = Libtorch.newManager(Device.cpu())) {
                    Shape shape = new Shape(1, 3, each.height(), each.width());
                    ImageInfo image = ImageInfo.of(0, "a made-up image", each);
                    ImageBatch batch =
                            new ImageBatch(manager.randomUniform(-2, 2, shape), List.of(image));
                    largest = Math.max(largest, check.deviation(batch, limit));
                    check.predict(model.model(), batch);
                }
                progress.step();
            }
        }
        out.println(
                Printable.format(
                        "%s, %s: largest deviation %.1e, at most %.0e expected",
                        check.runtime(), Count.of(sizes.size(), "made-up image"), largest, limit));
    }

    /** What deviates is not left where somebody might serve it. */
    private void discard(Path unfinished) {
        try {
            Files.deleteIfExists(unfinished.resolve("model" + format.suffix()));
            Files.deleteIfExists(unfinished.resolve("model.json"));
            Files.deleteIfExists(unfinished);
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be deleted", unfinished);
        }
    }
}

package dev.saccade.export;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

import com.google.common.base.Ascii;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.core.Count;
import dev.saccade.core.Libtorch;
import dev.saccade.core.Printable;
import dev.saccade.core.ProgressBar;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.structures.ImageBatch;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Dataset;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.TrainedModel;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;

/**
 * Writes a checkpoint as a program with its description, and compares it with the model.
 *
 * @param size fixed size of images; any size if empty
 * @param normalize whether the program includes normalization
 * @param precision precision of the computation
 * @param opset ONNX operator set
 * @param images images to compare on; only random images if empty
 * @param workers threads that read images
 * @param bars shows progress
 * @param out receives the results
 */
public record ProgramExport(
        ExportFormat format,
        Optional<Size> size,
        boolean normalize,
        Precision precision,
        Optional<Integer> opset,
        Optional<Images> images,
        int workers,
        ProgressBar.Factory bars,
        PrintWriter out) {

    /**
     * The first images of a data set.
     *
     * @param count maximum number of images
     */
    public record Images(Dataset dataset, int count) {}

    /** Sizes of random images, some unlike the recorded ones. */
    private static final List<Size> SIZES =
            List.of(new Size(192, 256), new Size(257, 193), new Size(1031, 97), new Size(75, 1213));

    /**
     * Writes a folder, which appears once the comparison has passed.
     *
     * @param folder new or empty
     * @throws SaccadeException of kind user, if program and model differ too much
     */
    public void write(Path checkpoint, Path folder) {
        ModelSpec spec =
                ModelSpec.fromMetadata(
                        Checkpoints.open(checkpoint).metadata(), checkpoint.toString());
        Optional<DatasetSubset> part =
                images.map(all -> DatasetSubset.first(all.dataset, spec, size, all.count, bars));
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
                compareOnRandomImages(check, model);
                if (part.isPresent()) {
                    new ExportComparison(check, part.get(), workers, bars)
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
        try (ProgressBar progress = bars.open("record", settings.recordings(), " sizes")) {
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
                        Ascii.toLowerCase(precision.name()),
                        size.map(only -> only.height() + "x" + only.width()).orElse("any size"),
                        seconds));
    }

    private <P> void compareOnRandomImages(ExportCheck check, TrainedModel<P> model) {
        double limit = ExportCheck.limit(precision);
        double largest = 0;
        List<Size> sizes = size.map(List::of).orElse(SIZES);
        try (ProgressBar progress = bars.open("compare", sizes.size(), " images")) {
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

    /** Removes a program that deviates, lest somebody serves it. */
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

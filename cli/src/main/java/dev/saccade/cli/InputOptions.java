package dev.saccade.cli;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.core.Count;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.datasets.loader.InferenceInput;
import dev.saccade.datasets.loader.InferenceReader;
import dev.saccade.models.ModelSpec;
import dev.saccade.train.config.RunConfig;

import org.opencv.core.CvType;
import org.opencv.core.Mat;

import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Options of commands that run a model on random images. */
final class InputOptions {

    private static final Size DEFAULT_SIZE = new Size(800, 1344);
    private static final int DEFAULT_CLASSES = 80;

    /** Image that replaces a missing validation image. */
    private static final Size TYPICAL_IMAGE = new Size(480, 640);

    @Option(
            names = "--size",
            paramLabel = "HxW",
            description =
                    "Set height and width of the model input in pixels. Default: size of the first"
                            + " validation image after the transforms for a run or checkpoint, else"
                            + " 800x1344.")
    private Optional<String> size = Optional.empty();

    @Option(
            names = "--classes",
            paramLabel = "N",
            description =
                    "Set the number of classes. Default: classes of the run or checkpoint, else"
                            + " 80.")
    private Optional<Integer> classes = Optional.empty();

    /**
     * Input of a model.
     *
     * @param note describes the defaults of a run or checkpoint; empty for a config
     */
    record Input(Size size, int classes, Optional<String> note) {}

    /** Parses the options; defaults are from the run or checkpoint, if {@code config} is one. */
    Input choose(ConfigArguments config, RunConfig bound) {
        Optional<Size> chosenSize = size.map(InputOptions::size);
        classes.ifPresent(number -> ConfigArguments.requirePositive("--classes", number));
        Optional<Path> checkpoint = config.checkpoint();
        if (checkpoint.isEmpty()) {
            return new Input(
                    chosenSize.orElse(DEFAULT_SIZE),
                    classes.orElse(DEFAULT_CLASSES),
                    Optional.empty());
        }
        int trainedClasses = classes.orElseGet(() -> classesOf(checkpoint.get()));
        if (chosenSize.isPresent()) {
            return new Input(chosenSize.get(), trainedClasses, Optional.empty());
        }
        Optional<Size> validation = validationSize(config, bound);
        Size used = validation.orElseGet(() -> transformedSize(bound));
        String origin =
                validation.isPresent()
                        ? "the first validation image"
                        : "a " + TYPICAL_IMAGE + " image (validation images are not available)";
        String note =
                Text.format(
                        "input: %s, the size of %s after the transforms; %s",
                        used, origin, Count.of(trainedClasses, "class"));
        return new Input(used, trainedClasses, Optional.of(note));
    }

    private static int classesOf(Path checkpoint) {
        return ModelSpec.fromMetadata(
                        Checkpoints.open(checkpoint).metadata(), checkpoint.toString())
                .classes()
                .size();
    }

    /** Returns the network input size of the first validation image; empty if it is unavailable. */
    private static Optional<Size> validationSize(ConfigArguments config, RunConfig bound) {
        try {
            RunConfig source = bound.data().val().isPresent() ? bound : config.configOfRun();
            Optional<Dataset> val =
                    source.data()
                            .val()
                            .map(each -> each.open(source.data().root()))
                            .filter(dataset -> dataset.size() > 0);
            PixelFormat pixels = bound.data().pixels();
            return val.map(dataset -> size(bound, pixels, reader -> reader.read(dataset, 0)));
        } catch (SaccadeException e) {
            // The data may be on another machine.
            return Optional.empty();
        }
    }

    private static Size transformedSize(RunConfig bound) {
        OpenCv.load();
        int channels = bound.data().pixels().channels();
        PixelFormat format = new PixelFormat(channels, List.of(), List.of(), List.of());
        Mat pixels =
                Mat.zeros(TYPICAL_IMAGE.height(), TYPICAL_IMAGE.width(), CvType.CV_8UC(channels));
        try {
            return size(bound, format, reader -> reader.read(List.of(ImageSource.of(pixels))));
        } finally {
            pixels.release();
        }
    }

    private static Size size(
            RunConfig config, PixelFormat format, Function<InferenceReader, InferenceInput> read) {
        OpenCv.load();
        InferenceReader reader =
                new InferenceReader(List.of(config.data().valTransformsAtSize()), format);
        try (InferenceInput input = read.apply(reader)) {
            return input.batches().get(0).size();
        }
    }

    static Size size(String text) {
        try {
            String[] sides = text.split("x", -1);
            if (sides.length == 2) {
                Size parsed = new Size(Integer.parseInt(sides[0]), Integer.parseInt(sides[1]));
                if (parsed.height() > 0
                        && parsed.width() > 0
                        && parsed.area() <= ImageInfo.MAX_PIXELS) {
                    return parsed;
                }
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw SaccadeException.user(
                "--size %s: expected HEIGHTxWIDTH, such as 800x1344, at most %d"
                        + " million pixels",
                text, ImageInfo.MAX_PIXELS / 1_000_000);
    }
}

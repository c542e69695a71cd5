package dev.saccade.cli;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.InputSize;
import dev.saccade.datasets.Transform;
import dev.saccade.train.config.DataConfig;
import dev.saccade.train.config.RunConfig;

import picocli.CommandLine.Option;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Short options for frequently changed config values. */
final class ShortOptions {

    @Option(
            names = "--image-size",
            paramLabel = "WxH",
            description =
                    "Resize images to fit into this width and height in pixels, such"
                            + " as 640x480, or crop them to it for a classifier; same as --set"
                            + " data.image_size=[640,480].")
    private Optional<String> imageSize = Optional.empty();

    @Option(
            names = "--batch-size",
            paramLabel = "N",
            description = "Set the number of images per batch; same as --set data.batch_size=N.")
    private Optional<Integer> batchSize = Optional.empty();

    @Option(
            names = "--epochs",
            paramLabel = "N",
            description = "Set the number of epochs; same as --set epochs=N --set iterations=null.")
    private Optional<Integer> epochs = Optional.empty();

    @Option(
            names = "--iterations",
            paramLabel = "N",
            description = "Set the number of optimizer steps; same as --set iterations=N.")
    private Optional<Integer> iterations = Optional.empty();

    @Option(
            names = "--learning-rate",
            paramLabel = "RATE",
            description = "Set the learning rate; same as --set optimizer.learning_rate=RATE.")
    private Optional<Double> learningRate = Optional.empty();

    @Option(
            names = "--workers",
            paramLabel = "N",
            description =
                    "Set the number of threads that read images; same as --set"
                            + " data.workers=N.")
    private Optional<Integer> workers = Optional.empty();

    List<String> overrides() {
        if (epochs.isPresent() && iterations.isPresent()) {
            throw SaccadeException.user(
                    "--epochs cannot be combined with --iterations; remove one of them");
        }
        return Stream.of(
                        imageSize.map(text -> "data.image_size=" + edges(text)),
                        batchSize.map(n -> "data.batch_size=" + n),
                        epochs.map(n -> "epochs=" + n),
                        epochs.map(n -> "iterations=null"),
                        iterations.map(n -> "iterations=" + n),
                        learningRate.map(rate -> "optimizer.learning_rate=" + rate),
                        workers.map(n -> "data.workers=" + n))
                .flatMap(Optional::stream)
                .toList();
    }

    private static List<Integer> edges(String text) {
        return TtaOptions.edges(text)
                .orElseThrow(
                        () ->
                                SaccadeException.user(
                                        "--image-size: got %s, expected width and"
                                                + " height in pixels, such as 640x480",
                                        text));
    }

    /** Rejects {@code --image-size} if the transforms set their own sizes. */
    void requireUsed(RunConfig run) {
        if (imageSize.isEmpty()) {
            return;
        }
        DataConfig data = run.data();
        requireUsed("data.train_transforms", data.trainTransforms(), data.size());
        requireUsed("data.val_transforms", data.valTransforms(), data.size());
    }

    private void requireUsed(String key, List<Transform> transforms, InputSize size) {
        InputSize other = new InputSize(Optional.of(List.of(1, 1)), size.cropSize());
        if (size.applyTo(transforms).equals(other.applyTo(transforms))) {
            throw SaccadeException.user(
                    "--image-size %s: has no effect, because each resize in %s sets"
                            + " its own scales; set these instead, such as --set %s.0.scales=%s",
                    imageSize.orElseThrow(), key, key, List.of(size.imageSize().orElseThrow()));
        }
    }
}

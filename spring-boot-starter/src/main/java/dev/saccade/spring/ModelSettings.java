package dev.saccade.spring;

import static com.google.common.base.Preconditions.checkArgument;

import ai.djl.Device;

import com.google.common.base.Strings;
import com.google.common.primitives.Doubles;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.core.Checks;
import dev.saccade.core.Devices;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.models.Classifier;
import dev.saccade.models.Detector;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.QueueLimits;
import dev.saccade.models.Segmenter;
import dev.saccade.models.TrainedModel;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** Checked properties of a model; its type is read from the checkpoint. */
record ModelSettings(
        Path file,
        Class<? extends TrainedModel<?>> type,
        Device device,
        Optional<Precision> precision,
        UnaryOperator<Detector> scores,
        QueueLimits limits) {

    /** Checks properties below {@code prefix}; returns empty after adding problems. */
    static Optional<ModelSettings> of(String prefix, ModelProperties given, Problems problems) {
        Problems found = new Problems();
        Optional<Class<? extends TrainedModel<?>>> type =
                checked(prefix + ".model", found, () -> type(given.getModel()));
        Optional<Device> device =
                checked(prefix + ".device", found, () -> device(given.getDevice()));
        Optional<Precision> precision =
                Optional.ofNullable(given.getPrecision())
                        .flatMap(
                                text ->
                                        checked(
                                                prefix + ".precision",
                                                found,
                                                () -> precision(text)));
        Optional<UnaryOperator<Detector>> scores =
                checked(prefix + ".scores", found, () -> scores(given.getScores()));
        found.addAll(
                new Checks()
                        .inRange(
                                prefix + ".max-queue",
                                given.getMaxQueue(),
                                1,
                                QueueLimits.MAX_IMAGES)
                        .inRange(
                                prefix + ".max-batch",
                                given.getMaxBatch(),
                                1,
                                QueueLimits.MAX_BATCH)
                        .inRange(
                                prefix + ".max-pixels",
                                given.getMaxPixels(),
                                1,
                                ImageInfo.MAX_PIXELS)
                        .problems());
        found.messages().forEach(message -> problems.add("%s", message));
        return found.isEmpty()
                ? Optional.of(
                        new ModelSettings(
                                path(given.getModel()),
                                type.orElseThrow(),
                                device.orElseThrow(),
                                precision,
                                scores.orElseThrow(),
                                new QueueLimits(
                                        given.getMaxQueue(),
                                        given.getMaxBatch(),
                                        given.getMaxPixels())))
                : Optional.empty();
    }

    private interface Check<T> {
        T get();
    }

    private static <T> Optional<T> checked(String key, Problems problems, Check<T> check) {
        try {
            return Optional.of(check.get());
        } catch (SaccadeException e) {
            problems.add("%s: %s", key, e);
            return Optional.empty();
        }
    }

    private static Class<? extends TrainedModel<?>> type(String file) {
        if (Strings.isNullOrEmpty(file)) {
            throw SaccadeException.user("is missing; set it to a checkpoint of a Saccade run");
        }
        ModelSpec spec = ModelSpec.fromMetadata(Checkpoints.open(path(file)).metadata(), file);
        TargetKind targets = spec.model().head().targets();
        return switch (targets) {
            case BOXES, MASKS, MASKS_AND_LABEL_MAPS -> Detector.class;
            case LABEL_MAPS -> Segmenter.class;
            case CLASSES -> Classifier.class;
        };
    }

    private static Path path(String file) {
        try {
            // Two letters or more, because C: is a drive.
            checkArgument(!file.matches("(?s)[A-Za-z]{2,}:.*"));
            return Path.of(file);
        } catch (IllegalArgumentException e) {
            throw SaccadeException.user(
                    "got %s, expected the path of a file, such as /models/best.safetensors", file);
        }
    }

    private static Device device(String name) {
        if (!Devices.isName(name)) {
            throw SaccadeException.user("got %s, expected %s", name, Devices.EXPECTED);
        }
        return Devices.local().choose(name);
    }

    private static Precision precision(String name) {
        return Stream.of(Precision.values())
                .filter(each -> each.name().toLowerCase(Locale.ROOT).equals(name))
                .findFirst()
                .orElseThrow(
                        () ->
                                SaccadeException.user(
                                        "got %s, expected float32, bfloat16 or float16", name));
    }

    private static UnaryOperator<Detector> scores(String text) {
        if (text.equals("recommended")) {
            return UnaryOperator.identity();
        }
        if (text.equals("per-class")) {
            return Detector::withScoresPerClass;
        }
        Double score = Doubles.tryParse(text);
        if (score == null || !(score >= 0 && score <= 1)) {
            throw SaccadeException.user(
                    "got %s, expected recommended, per-class or a number from 0 to 1", text);
        }
        return detector -> detector.withMinScore(score);
    }

    /** Loads the model, without a queue. */
    TrainedModel<?> load() {
        TrainedModel<?> model = TrainedModel.load(file, device);
        TrainedModel<?> precise =
                precision.<TrainedModel<?>>map(model::withPrecision).orElse(model);
        return precise.<TrainedModel<?>>match(
                scores::apply, segmenter -> segmenter, classifier -> classifier);
    }
}

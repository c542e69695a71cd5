package dev.saccade.report.suggest;

import com.google.common.collect.ImmutableList;
import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.Workers;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.models.ClassScore;
import dev.saccade.models.Classifier;
import dev.saccade.models.Detector;
import dev.saccade.models.ScoreThresholds;
import dev.saccade.models.Segmenter;
import dev.saccade.models.TrainedModel;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

/**
 * Unlabeled images with the uncertainty of a model.
 *
 * @param images readable images, in the order given
 * @param faults a message for each unreadable image
 */
public record Candidates(List<Candidate> images, List<String> faults) {

    public Candidates {
        images = ImmutableList.copyOf(images);
        faults = ImmutableList.copyOf(faults);
    }

    /** Minimum probability of a class from which its alternative is not shown. */
    private static final double CERTAIN = 0.99;

    /** An image or the reason why it is unusable. */
    private record Result(Optional<Candidate> candidate, String fault) {}

    /**
     * Predicts images below a folder, several at the same time; {@code thresholds} is for
     * detectors.
     */
    public static Candidates of(
            TrainedModel<?> model,
            Path folder,
            List<Path> files,
            ScoreThresholds thresholds,
            Runnable onImage) {
        List<Callable<Result>> tasks = new ArrayList<>();
        for (int i = 0; i < files.size(); i++) {
            int id = i + 1;
            Path file = files.get(i);
            String name = name(folder, file);
            tasks.add(() -> usable(model, name, id, file, thresholds));
        }
        List<Candidate> images = new ArrayList<>();
        List<String> faults = new ArrayList<>();
        try (Workers workers = new Workers("saccade-suggest", model.streams())) {
            workers.run(
                    tasks,
                    result -> {
                        result.candidate.ifPresentOrElse(
                                images::add, () -> faults.add(result.fault));
                        onImage.run();
                    });
        }
        return new Candidates(images, faults);
    }

    /** Returns the path of an image relative to a folder, with {@code /} between its parts. */
    public static String name(Path folder, Path file) {
        return folder.relativize(file).toString().replace(File.separatorChar, '/');
    }

    private static Result usable(
            TrainedModel<?> model, String name, int id, Path file, ScoreThresholds thresholds) {
        try {
            ImageFile image = ImageFile.read(id, file);
            return new Result(
                    Optional.of(
                            model.match(
                                    detector -> detected(detector, name, image, thresholds),
                                    segmenter -> segmented(segmenter, name, image),
                                    classifier -> classified(classifier, name, image))),
                    "");
        } catch (SaccadeException e) {
            if (e.kind() != SaccadeException.Kind.USER) {
                throw e;
            }
            return new Result(Optional.empty(), e.getMessage());
        }
    }

    private static Candidate detected(
            Detector detector, String name, ImageFile image, ScoreThresholds thresholds) {
        ImageSource source = ImageSource.of(image.file());
        Instances objects = detector.predict(source);
        Instances flipped = Uncertainty.predictFlipped(detector, source);
        Uncertainty uncertainty = Uncertainty.of(objects, flipped, detector.classes(), thresholds);
        return new Candidate(
                name,
                image,
                uncertainty.value(),
                uncertainty.reason(),
                ImmutableDoubleArray.copyOf(detector.embedding(source)),
                Optional.of(objects));
    }

    private static Candidate segmented(Segmenter segmenter, String name, ImageFile image) {
        ImageSource source = ImageSource.of(image.file());
        double entropy = segmenter.meanEntropy(source);
        return new Candidate(
                name,
                image,
                entropy,
                Text.format("mean entropy %.3f", entropy),
                ImmutableDoubleArray.copyOf(segmenter.embedding(source)),
                Optional.empty());
    }

    private static Candidate classified(Classifier classifier, String name, ImageFile image) {
        Classifier.Embedded predicted =
                classifier.classifyWithEmbedding(ImageSource.of(image.file()));
        List<ClassScore> scores = predicted.classes();
        double entropy =
                -scores.stream()
                                .mapToDouble(each -> each.score())
                                .filter(score -> score > 0)
                                .map(score -> score * Math.log(score))
                                .sum()
                        / Math.log(Math.max(2, scores.size()));
        return new Candidate(
                name,
                image,
                entropy,
                scores.stream()
                        .limit(scores.get(0).score() < CERTAIN ? 2 : 1)
                        .map(each -> Text.format("%s (%.2f)", each.label(), each.score()))
                        .collect(Collectors.joining(" or ", "predicted ", "")),
                predicted.embedding(),
                Optional.empty());
    }
}

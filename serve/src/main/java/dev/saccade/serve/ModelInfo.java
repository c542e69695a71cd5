package dev.saccade.serve;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Text;
import dev.saccade.core.Version;
import dev.saccade.core.components.DetectionHead;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.TrainedModel;
import dev.saccade.models.draw.ClassColors;

import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * Response of {@code GET /model}; the task is {@code detection}, {@code segmentation} or {@code
 * classification}.
 */
record ModelInfo(
        String name,
        String task,
        String backbone,
        String head,
        List<ClassInfo> classes,
        String precision,
        boolean quantized,
        String version,
        double defaultScore,
        int maxUploadBytes,
        int maxPixels,
        String modelVersion) {

    /** A class with its recommended score (null except for detection) and color {@code #rrggbb}. */
    record ClassInfo(String label, Double score, String color) {}

    static ModelInfo of(
            TrainedModel<?> model, String name, String version, double score, ServerLimits limits) {
        ModelSpec spec = model.spec();
        List<Integer> colors = ClassColors.of(spec.classes());
        Function<String, Double> scores =
                model.match(
                        detector -> detector.scoreThresholds()::of,
                        segmenter -> label -> null,
                        classifier -> label -> null);
        return new ModelInfo(
                name,
                model.<String>match(
                        detector -> "detection",
                        segmenter -> "segmentation",
                        classifier -> "classification"),
                spec.model().backbone().type(),
                spec.model().head().type(),
                IntStream.range(0, colors.size())
                        .mapToObj(
                                label ->
                                        new ClassInfo(
                                                spec.classes().get(label),
                                                scores.apply(spec.classes().get(label)),
                                                Text.format("#%06x", colors.get(label))))
                        .collect(ImmutableList.toImmutableList()),
                spec.precision().name().toLowerCase(Locale.ROOT),
                !spec.quantizedLayers().isEmpty(),
                Version.saccade(),
                score,
                limits.uploadBytes(),
                limits.pixels(),
                version);
    }

    /** Returns whether a model is a detector that predicts masks. */
    static boolean hasMasks(TrainedModel<?> model) {
        return model.spec().model().head() instanceof DetectionHead.Config head && head.hasMasks();
    }

    static boolean segments(TrainedModel<?> model) {
        return model.<Boolean>match(detector -> false, segmenter -> true, classifier -> false);
    }
}

package dev.saccade.serve;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Text;
import dev.saccade.core.Version;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.TrainedModel;
import dev.saccade.models.draw.ClassColors;

import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * What {@code /model} tells.
 *
 * @param name what the server was told to call it
 * @param task {@code detection} or {@code segmentation}
 * @param backbone the type of the backbone
 * @param head the type of the head
 * @param classes the labels, in order
 * @param precision what is computed in
 * @param version of Saccade
 * @param defaultScore least score of objects where a request names none
 * @param maxUploadBytes most bytes of a request
 * @param maxPixels most pixels of a photograph
 */
record ModelFacts(
        String name,
        String task,
        String backbone,
        String head,
        List<ClassFacts> classes,
        String precision,
        String version,
        double defaultScore,
        int maxUploadBytes,
        int maxPixels) {

    /**
     * A class.
     *
     * @param label its name
     * @param score recommended minimum score; null for segmentation
     * @param color in which it is drawn, {@code #rrggbb}
     */
    record ClassFacts(String label, Double score, String color) {}

    static ModelFacts of(TrainedModel<?> model, String name, double score, ServerLimits limits) {
        ModelSpec spec = model.spec();
        List<Integer> colors = ClassColors.of(spec.classes());
        Function<String, Double> scores =
                model.match(detector -> detector.scoreThresholds()::of, segmenter -> label -> null);
        return new ModelFacts(
                name,
                segments(model) ? "segmentation" : "detection",
                spec.model().backbone().type(),
                spec.model().head().type(),
                IntStream.range(0, colors.size())
                        .mapToObj(
                                label ->
                                        new ClassFacts(
                                                spec.classes().get(label),
                                                scores.apply(spec.classes().get(label)),
                                                Text.format("#%06x", colors.get(label))))
                        .collect(ImmutableList.toImmutableList()),
                spec.precision().name().toLowerCase(Locale.ROOT),
                Version.saccade(),
                score,
                limits.uploadBytes(),
                limits.pixels());
    }

    static boolean segments(TrainedModel<?> model) {
        return model.<Boolean>match(detector -> false, segmenter -> true);
    }
}

package dev.saccade.cli;

import com.google.common.collect.ImmutableMap;

import dev.saccade.backbones.BackboneSummary;
import dev.saccade.backbones.PublishedFigures;
import dev.saccade.config.Configs;
import dev.saccade.core.Text;
import dev.saccade.core.parts.Backbone;

import java.io.PrintWriter;
import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Every backbone that configs may name, in all its variants. */
final class BackboneList {

    private static final String ROW = "%-36s %12s %20s %22s%s%n";

    private BackboneList() {}

    private static Stream<BackboneSummary> all() {
        return Configs.known(Backbone.Config.class).values().stream()
                .flatMap(family -> Configs.<Backbone.Config>members(family).entrySet().stream())
                .map(member -> BackboneSummary.measure(member.getKey(), member.getValue()));
    }

    /** Prints a line as soon as it is known. */
    static void print(PrintWriter out) {
        out.printf(Locale.ROOT, ROW, "", "parameters", "as classifier", "multiply-adds", "");
        all().forEach(
                        backbone -> {
                            out.print(line(backbone));
                            out.flush();
                        });
        out.printf(
                Locale.ROOT,
                "%nParameters in millions. Multiply-adds in billions, for one 224x224 image unless"
                        + " another size is given.%nIn brackets: published numbers of the classifier"
                        + " of 1000 classes; backbones/README.md explains%nthe differences.%n");
    }

    private static String line(BackboneSummary backbone) {
        Optional<PublishedFigures> published = backbone.published();
        return Text.format(
                ROW,
                backbone.name(),
                Text.format("%.2f", backbone.parameters() / 1e6),
                beside(
                        backbone.classifierParameters() / 1e6,
                        published.flatMap(PublishedFigures::parameters)),
                beside(
                        backbone.multiplyAdds() / 1e9,
                        published.flatMap(PublishedFigures::multiplyAdds)),
                at(backbone.imageSize()));
    }

    private static String at(int imageSize) {
        return imageSize == PublishedFigures.USUAL_SIZE
                ? ""
                : Text.format(" at %sx%s", imageSize, imageSize);
    }

    private static String beside(double ours, Optional<BigDecimal> published) {
        return Text.format("%.2f %8s", ours, published.map(p -> "(" + p + ")").orElse(""));
    }

    /** Returns the list as JSON objects. */
    static List<Map<String, Object>> forMachines() {
        return all().map(BackboneList::keys).toList();
    }

    private static Map<String, Object> keys(BackboneSummary backbone) {
        ImmutableMap.Builder<String, Object> keys = ImmutableMap.builder();
        keys.put("name", backbone.name());
        keys.put("parameters", backbone.parameters());
        if (backbone.trainingParameters() != backbone.parameters()) {
            keys.put("training_parameters", backbone.trainingParameters());
        }
        keys.put("classifier_parameters", backbone.classifierParameters());
        keys.put("multiply_adds", backbone.multiplyAdds());
        keys.put("image_size", backbone.imageSize());
        backbone.published().ifPresent(published -> keys.put("published", keys(published)));
        return keys.buildOrThrow();
    }

    private static Map<String, Object> keys(PublishedFigures published) {
        ImmutableMap.Builder<String, Object> keys = ImmutableMap.builder();
        published.parameters().ifPresent(p -> keys.put("parameters_millions", p));
        published.multiplyAdds().ifPresent(m -> keys.put("multiply_adds_billions", m));
        published.top1().ifPresent(top1 -> keys.put("top1", top1));
        keys.put("source", published.source());
        keys.put("remark", published.remark());
        return keys.buildOrThrow();
    }
}

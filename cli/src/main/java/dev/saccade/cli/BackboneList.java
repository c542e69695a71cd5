package dev.saccade.cli;

import com.google.common.collect.ImmutableMap;

import dev.saccade.backbones.BackboneSummary;
import dev.saccade.config.Configs;
import dev.saccade.core.Text;
import dev.saccade.core.components.Backbone;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** Prints all backbones with their sizes. */
final class BackboneList {

    private static final String ROW = "%-40s %12s %15s %15s%n";

    private BackboneList() {}

    private static Stream<BackboneSummary> all() {
        return Configs.registered(Backbone.Config.class).values().stream()
                .flatMap(family -> Configs.<Backbone.Config>variants(family).entrySet().stream())
                .map(member -> BackboneSummary.measure(member.getKey(), member.getValue()));
    }

    /** Prints each backbone as soon as it is measured. */
    static void print(PrintWriter out) {
        out.printf(Locale.ROOT, ROW, "", "parameters", "as classifier", "multiply-adds");
        all().forEach(
                        backbone -> {
                            out.print(line(backbone));
                            out.flush();
                        });
        out.printf(
                Locale.ROOT,
                "%nParameters in millions; \"as classifier\" includes a 1000-class"
                        + " layer. Multiply-adds in%nbillions for a 224x224 image. docs/papers.md"
                        + " compares these values with the papers.%n");
    }

    static String line(BackboneSummary backbone) {
        return Text.format(
                ROW,
                backbone.name(),
                Text.format("%.2f", backbone.parameters() / 1e6),
                Text.format("%.2f", backbone.classifierParameters() / 1e6),
                Text.format("%.2f", backbone.multiplyAdds() / 1e9));
    }

    static List<Map<String, Object>> json() {
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
        return keys.buildOrThrow();
    }
}

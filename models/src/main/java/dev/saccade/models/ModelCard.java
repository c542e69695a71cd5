package dev.saccade.models;

import dev.saccade.checkpoint.AtomicFile;
import dev.saccade.config.ConfigWriter;
import dev.saccade.core.Printable;
import dev.saccade.core.Text;

import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Model card in Markdown, with the metadata keys of Hugging Face as YAML front matter.
 *
 * @param provenance empty if unknown
 */
public record ModelCard(String name, ModelSpec spec, Optional<Provenance> provenance) {

    /** File name next to exported models. */
    public static final String FILE = "model_card.md";

    /** Values of settings that need no quotes, including numbers. */
    private static final String SIMPLE = "[A-Za-z0-9_/.+-]+";

    /** Returns the card of a model in a folder, which is its name. */
    public static ModelCard of(Path folder, ModelSpec spec, Optional<Provenance> provenance) {
        Path name = folder.toAbsolutePath().normalize().getFileName();
        return new ModelCard(name == null ? "model" : name.toString(), spec, provenance);
    }

    public void write(Path file) {
        AtomicFile.write(file, markdown(LocalDate.now(ZoneOffset.UTC)));
    }

    /** Returns the card. Its license is {@code unknown}, for the author of the model to replace. */
    public String markdown(LocalDate date) {
        StringBuilder card = new StringBuilder("---\nlibrary_name: saccade\n");
        card.append("license: unknown\n");
        card.append("pipeline_tag: ").append(pipelineTag()).append('\n');
        provenance.ifPresent(origin -> appendResults(card, origin));
        card.append("---\n\n# ").append(Printable.line(name)).append("\n\n");
        card.append(
                Text.format(
                        "%s with a %s backbone, written by Saccade on %s. Set `license` above before"
                                + " you publish the model: it depends on the training data and the"
                                + " initial weights.\n\n",
                        code(spec.model().head().type()),
                        code(spec.model().backbone().type()),
                        date));
        card.append(Text.format("## Classes\n\n%s\n\n", classes()));
        if (!spec.pixels().isRgb8()) {
            card.append(Text.format("## Images\n\n%s\n\n", spec.pixels().describe()));
        }
        card.append(Text.format("## Provenance\n\n"));
        provenance.ifPresentOrElse(
                origin -> appendProvenance(card, origin),
                () -> card.append("Unknown: the checkpoint was written without it.\n"));
        return card.toString();
    }

    private String pipelineTag() {
        return switch (spec.model().head().targets()) {
            case BOXES -> "object-detection";
            case MASKS, MASKS_AND_LABEL_MAPS, LABEL_MAPS -> "image-segmentation";
            case CLASSES -> "image-classification";
        };
    }

    private void appendResults(StringBuilder card, Provenance origin) {
        Optional<String> data = origin.data().name().map(ConfigWriter::text);
        data.ifPresent(set -> card.append("datasets:\n- ").append(set).append('\n'));
        if (origin.metrics().isEmpty()) {
            return;
        }
        List<String> metrics = origin.metrics().keySet().stream().map(ConfigWriter::text).toList();
        card.append("metrics:\n");
        metrics.forEach(metric -> card.append("- ").append(metric).append('\n'));
        String set = data.orElse("unknown");
        card.append(
                Text.format(
                        """
                        model-index:
                        - name: %s
                          results:
                          - task:
                              type: %s
                            dataset:
                              type: %s
                              name: %s
                            metrics:
                        """,
                        ConfigWriter.text(name), pipelineTag(), set, set));
        origin.metrics()
                .forEach(
                        (metric, value) ->
                                card.append(
                                        Text.format(
                                                "    - type: %s\n      value: %s\n",
                                                ConfigWriter.text(metric), value)));
    }

    private String classes() {
        return spec.classes().stream().map(ModelCard::code).collect(Collectors.joining(", "));
    }

    private static void appendProvenance(StringBuilder card, Provenance origin) {
        card.append("| | |\n|---|---|\n");
        row(card, "Software", String.join("; ", origin.software()));
        row(card, "Initial weights", origin.initialText());
        row(card, "Training data", origin.dataText());
        row(card, "Seed", Long.toString(origin.seed()));
        row(card, "Steps", Long.toString(origin.iteration()));
        row(card, "Metrics", origin.metrics().isEmpty() ? "not evaluated" : origin.metricsText());
        card.append("\n## Config\n\nSettings that affect training:\n\n```yaml\n");
        origin.config()
                .forEach(
                        (key, value) ->
                                card.append(
                                        Text.format(
                                                "%s: %s\n",
                                                ConfigWriter.text(key),
                                                value.matches(SIMPLE)
                                                        ? value
                                                        : ConfigWriter.text(value))));
        card.append("```\n");
    }

    private static void row(StringBuilder card, String key, String value) {
        card.append(Text.format("| %s | %s |\n", key, code(value)));
    }

    /** Returns text that Markdown shows as it is, also in tables. */
    private static String code(String text) {
        return "`" + Printable.line(text).replace('`', '\'').replace("|", "\\|") + "`";
    }
}

package dev.saccade.cli;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonRawValue;
import com.fasterxml.jackson.annotation.JsonUnwrapped;

import dev.saccade.checkpoint.Checkpoints;
import dev.saccade.cli.terminal.JsonOption;
import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.export.ExportMetadata;
import dev.saccade.models.ModelCard;
import dev.saccade.models.ModelSpec;
import dev.saccade.models.ModelSummary;
import dev.saccade.models.Provenance;
import dev.saccade.train.config.RunConfig;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.UnmatchedArgumentException;

import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;

@Command(
        name = "info",
        description = {
            "Print parameters, multiply-adds, feature shapes and peak memory of a"
                    + " model, or list all backbones.",
            "For a run, a checkpoint or an exported ONNX or TorchScript file, also print its"
                    + " provenance: software, initial weights, training data, seed and metrics."
        },
        footer = {
            "",
            "Example:  saccade info configs/retinanet/resnet50_fpn_1x_coco.yaml --size 800x1344",
            "          saccade info --backbones",
            "          saccade info runs/demo --card > model_card.md"
        })
final class InfoCommand extends BaseCommand {

    @Mixin private ConfigArguments config;
    @Mixin private InputOptions input;
    @Mixin private JsonOption json;

    @Option(
            names = "--backbones",
            help = true,
            description = "List all backbones, custom ones included, instead of reading a CONFIG.")
    private boolean all;

    @Option(
            names = "--card",
            description =
                    "Print a model card of the run or checkpoint in Markdown, with the metadata of"
                            + " Hugging Face.")
    private boolean card;

    @Override
    public Integer call() {
        if (all) {
            list();
            return 0;
        }
        Optional<Map<String, String>> exported = config.named().flatMap(ExportMetadata::read);
        if (exported.isPresent()) {
            printExport(exported.get());
            return 0;
        }
        if (card) {
            printCard();
            return 0;
        }
        RunConfig bound = config.bind();
        InputOptions.Input chosen = input.choose(config, bound);
        chosen.note().ifPresent(note -> printMessage("%s", note));
        ModelSummary summary =
                ModelSummary.measure(
                        config.name(),
                        bound.model(),
                        chosen.size(),
                        chosen.classes(),
                        bound.data().pixels().channels());
        Optional<Path> checkpoint = config.checkpoint();
        if (checkpoint.isEmpty()) {
            json.print(spec, summary);
        } else {
            json.print(spec, new Trained(summary, provenance(checkpoint.get())));
        }
        return 0;
    }

    /** Summary of a trained model. */
    private record Trained(
            @JsonUnwrapped ModelSummary summary, @JsonIgnore Optional<Provenance> origin) {

        @JsonProperty
        @JsonRawValue
        String provenance() {
            return json(origin);
        }

        @Override
        public String toString() {
            return summary + "\n" + Provenance.describe(origin);
        }
    }

    private static Optional<Provenance> provenance(Path checkpoint) {
        return Provenance.find(Checkpoints.open(checkpoint).metadata(), checkpoint.toString());
    }

    private static String json(Optional<Provenance> provenance) {
        return provenance
                .map(origin -> ConfigWriter.valuesAsJson(Configs.unbind(origin)))
                .orElse("null");
    }

    private void printExport(Map<String, String> metadata) {
        Path file = config.named().orElseThrow();
        if (card) {
            throw SaccadeException.user(
                    "%s: is an exported model; --card needs a run or a checkpoint (export also"
                            + " writes %s next to the model)",
                    file, ModelCard.FILE);
        }
        Optional<Provenance> origin = Provenance.find(metadata, file.toString());
        out().println(
                        json.isSet()
                                ? json(origin)
                                : Printable.line(config.name())
                                        + "\n"
                                        + Provenance.describe(origin));
    }

    private void printCard() {
        Path checkpoint =
                config.checkpoint()
                        .orElseThrow(
                                () ->
                                        SaccadeException.user(
                                                "%s: --card needs a run with a checkpoint, or a"
                                                        + " checkpoint",
                                                config.name()));
        Map<String, String> metadata = Checkpoints.open(checkpoint).metadata();
        String source = checkpoint.toString();
        ModelCard result =
                new ModelCard(
                        config.name(),
                        ModelSpec.fromMetadata(metadata, source),
                        Provenance.find(metadata, source));
        out().println(result.markdown(LocalDate.now(ZoneOffset.UTC)).strip());
    }

    private void list() {
        List<String> unknown = spec.commandLine().getParseResult().unmatched();
        if (!unknown.isEmpty()) {
            throw new UnmatchedArgumentException(spec.commandLine(), unknown);
        }
        if (config.named().isPresent()) {
            throw SaccadeException.user(
                    "--backbones: expected no CONFIG, got %s", config.named().get());
        }
        if (json.isSet()) {
            json.print(spec, BackboneList.json());
        } else {
            BackboneList.print(out());
        }
    }
}

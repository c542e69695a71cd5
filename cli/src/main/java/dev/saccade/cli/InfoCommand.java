package dev.saccade.cli;

import dev.saccade.cli.terminal.JsonOption;
import dev.saccade.core.SaccadeException;
import dev.saccade.models.ModelSummary;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.UnmatchedArgumentException;

import java.util.List;

/** Prints the size of a model and the cost of a forward pass. */
@Command(
        name = "info",
        description = {
            "Print parameters, multiply-adds, feature shapes and peak memory of a model, or list"
                    + " all backbones."
        },
        footer = {
            "",
            "Example:  saccade info configs/retinanet/resnet50_fpn_1x_coco.yaml --size 800x1344",
            "          saccade info --all"
        })
final class InfoCommand extends BaseCommand {

    @Mixin private ConfigArguments config;
    @Mixin private InputOptions input;
    @Mixin private JsonOption json;

    @Option(
            names = "--all",
            help = true,
            description = "List every backbone, your own included, instead of a CONFIG.")
    private boolean all;

    @Override
    public Integer call() {
        if (all) {
            list();
            return 0;
        }
        int classes = input.classes();
        json.print(
                spec,
                ModelSummary.measure(config.name(), config.bind().model(), input.size(), classes));
        return 0;
    }

    private void list() {
        List<String> unknown = spec.commandLine().getParseResult().unmatched();
        if (!unknown.isEmpty()) {
            throw new UnmatchedArgumentException(spec.commandLine(), unknown);
        }
        if (config.named().isPresent()) {
            throw SaccadeException.user("--all: expected no CONFIG, got %s", config.named().get());
        }
        if (json.wanted()) {
            json.print(spec, BackboneList.forMachines());
        } else {
            BackboneList.print(out());
        }
    }
}

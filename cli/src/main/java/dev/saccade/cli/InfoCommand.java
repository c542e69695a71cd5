package dev.saccade.cli;

import dev.saccade.cli.terminal.JsonOption;
import dev.saccade.core.SaccadeException;
import dev.saccade.models.ModelSummary;
import dev.saccade.train.config.RunConfig;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.UnmatchedArgumentException;

import java.util.List;

@Command(
        name = "info",
        description = {
            "Print parameters, multiply-adds, feature shapes and peak memory of a"
                    + " model, or list all backbones."
        },
        footer = {
            "",
            "Example:  saccade info configs/retinanet/resnet50_fpn_1x_coco.yaml --size 800x1344",
            "          saccade info --backbones"
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

    @Override
    public Integer call() {
        if (all) {
            list();
            return 0;
        }
        RunConfig bound = config.bind();
        InputOptions.Input chosen = input.choose(config, bound);
        chosen.note().ifPresent(note -> printMessage("%s", note));
        json.print(
                spec,
                ModelSummary.measure(
                        config.name(), bound.model(), chosen.size(), chosen.classes()));
        return 0;
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

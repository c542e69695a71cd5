package dev.saccade.cli;

import dev.saccade.config.ConfigNode;
import dev.saccade.config.ConfigWriter;
import dev.saccade.config.Configs;
import dev.saccade.train.config.RunConfig;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "config",
        description = "Print a resolved config, with the origin of every value.",
        footer = {
            "",
            "Example:  saccade config configs/retinanet/resnet50_fpn_1x_coco.yaml --set epochs=36"
        })
final class ConfigCommand extends BaseCommand {

    @Mixin private ConfigArguments config;
    @Mixin private ShortOptions shortOptions;

    @Option(names = "--json", description = "Print the config as JSON, without origins.")
    private boolean json;

    @Override
    public Integer call() {
        config.override(shortOptions);
        ConfigNode.Mapping written = config.read();
        ConfigNode.Mapping resolved =
                Configs.unbind(Configs.bind(written, RunConfig.class)).withOriginsOf(written);
        out().print(json ? ConfigWriter.json(resolved) : ConfigWriter.yamlWithOrigins(resolved));
        out().flush();
        return 0;
    }
}

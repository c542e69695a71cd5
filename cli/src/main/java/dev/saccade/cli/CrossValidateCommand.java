package dev.saccade.cli;

import dev.saccade.cli.terminal.Progress;
import dev.saccade.train.config.RunConfig;
import dev.saccade.tune.CrossValidation;
import dev.saccade.tune.LocalJobs;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.Optional;

@Command(
        name = "cross-validate",
        description = {
            "Train a config once per fold of data.train, and evaluate each run on its held-out fold.",
            "Writes out-of-fold predictions in COCO's results format, metrics.json and report.html."
        },
        footer = {
            "",
            "Example:  saccade cross-validate resnet18_fpn_bccd --folds 5",
            "          saccade cross-validate resnet18_fpn_bccd --folds 5 --resume"
        })
final class CrossValidateCommand extends BaseCommand {

    @Mixin private ConfigArguments config;
    @Mixin private JobOptions jobs;

    @Mixin private ShortOptions shortOptions;

    @Option(
            names = "--folds",
            paramLabel = "K",
            defaultValue = "5",
            description = "Split data.train into K folds. Default: ${DEFAULT-VALUE}.")
    private int folds;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "0",
            description = "Set the seed of the folds. Default: ${DEFAULT-VALUE}.")
    private long seed;

    @Override
    public Integer call() {
        config.requireNoCheckpoint("start from its weights with --set init_from=FILE");
        config.override(shortOptions);
        RunConfig run = config.bind();
        LocalJobs runner = jobs.runner(run);
        Path folder = jobs.folder("crossval", config);
        CrossValidation validation =
                new CrossValidation(
                        run,
                        new CrossValidation.Settings(folds, seed, jobs.threads()),
                        runner,
                        Progress::println);
        Optional<CrossValidation.Result> result =
                jobs.run(this, runner, () -> validation.run(folder, jobs.isResumed()));
        if (result.isEmpty()) {
            return JobOptions.INTERRUPTED;
        }
        out().println(result.get().summary());
        printMessage("report: %s", result.get().report());
        return 0;
    }
}

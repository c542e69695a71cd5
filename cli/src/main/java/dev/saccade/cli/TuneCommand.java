package dev.saccade.cli;

import dev.saccade.cli.terminal.Progress;
import dev.saccade.config.ConfigNode;
import dev.saccade.config.Configs;
import dev.saccade.core.Printable;
import dev.saccade.train.config.RunConfig;
import dev.saccade.tune.LocalJobs;
import dev.saccade.tune.TuneBudget;
import dev.saccade.tune.TuneResult;
import dev.saccade.tune.TuneSettings;
import dev.saccade.tune.Tuner;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

@Command(
        name = "tune",
        description = {
            "Search learning rate, image size, augmentation, head and other settings of a config.",
            "Trials train on folds of data.train, and are never evaluated on data.val. Writes"
                    + " best.yaml, trials.jsonl and report.html."
        },
        footer = {
            "",
            "Example:  saccade tune resnet18_fpn_bccd --budget 2h",
            "          saccade tune resnet18_fpn_bccd --budget 2h --resume",
            "          saccade tune cells.yaml --budget 30m --fix head --search"
                    + " 'model.neck.out_channels=[64, 128]'",
            "          saccade tune cells.yaml --budget 1h --search"
                    + " optimizer.weight_decay=1e-3..1e-1"
        })
final class TuneCommand extends BaseCommand {

    @Mixin private ConfigArguments config;
    @Mixin private JobOptions jobs;

    @Option(
            names = "--budget",
            paramLabel = "TIME",
            required = true,
            description =
                    "Plan for this wall time, such as 2h, 1h30m or 90s, or for a number of"
                            + " optimizer steps, such as 20000steps.")
    private String budget;

    @Option(
            names = "--trials",
            paramLabel = "N",
            description =
                    "Set the number of trials, including the config itself. Default: 9, 27 or 81,"
                            + " depending on the budget.")
    private Optional<Integer> trials = Optional.empty();

    @Option(
            names = "--folds",
            paramLabel = "K",
            description =
                    "Split data.train into K folds. Default: 3 below 500 images, else 5 or more.")
    private Optional<Integer> folds = Optional.empty();

    @Option(
            names = "--search",
            paramLabel = "KEY=VALUES",
            description =
                    "Also search these values of a setting: a list such as KEY=[1, 2] or a range"
                            + " such as KEY=1e-4..1e-2, sampled log-uniformly. Repeatable. Replaces"
                            + " the default values of the setting.")
    private List<String> search = new ArrayList<>();

    @Option(
            names = "--fix",
            paramLabel = "NAME",
            description =
                    "Do not search backbone, head, frozen_stages, learning_rate, layer_decay,"
                            + " image_size, augmentation, ema, or all of them. Repeatable.")
    private List<String> fix = new ArrayList<>();

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "0",
            description = "Set the seed of trials and folds. Default: ${DEFAULT-VALUE}.")
    private long seed;

    @Option(
            names = "--no-final",
            description =
                    "Do not train the selected and the original config on all training images to"
                            + " compare them on data.val.")
    private boolean noFinal;

    @Override
    public Integer call() {
        config.requireNoCheckpoint("start from its weights with --set init_from=FILE");
        trials.ifPresent(n -> ConfigArguments.requirePositive("--trials", n));
        ConfigNode.Mapping base = config.read();
        LocalJobs runner = jobs.runner(Configs.bind(base, RunConfig.class));
        TuneSettings settings =
                new TuneSettings(
                        TuneBudget.parse(budget),
                        trials,
                        folds,
                        seed,
                        search,
                        fix,
                        !noFinal,
                        jobs.threads());
        Path folder = jobs.folder("tune", config);
        Tuner tuner = new Tuner(base, settings, runner, Progress::println);
        Optional<TuneResult> result =
                jobs.run(this, runner, () -> tuner.run(folder, jobs.isResumed()));
        if (result.isEmpty()) {
            return JobOptions.INTERRUPTED;
        }
        result.get().conclusions().forEach(out()::println);
        printMessage(
                "report: %s%nnext:   ./saccade train %s",
                result.get().report(), Printable.shellWord(result.get().config()));
        return 0;
    }
}

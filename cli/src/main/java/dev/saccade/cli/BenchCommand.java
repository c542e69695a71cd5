package dev.saccade.cli;

import dev.saccade.bench.ModelBench;
import dev.saccade.bench.RanksBench;
import dev.saccade.cli.terminal.JsonOption;
import dev.saccade.core.bench.OperatorBench;
import dev.saccade.core.bench.Timing;
import dev.saccade.train.config.RunConfig;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

import java.util.Optional;

/** Times operators, models and ranks on this machine. */
@Command(
        name = "bench",
        description = "Time operators or a model, fused and portable in turn; or ranks.",
        footer = {
            "",
            "Example:  saccade bench ops",
            "          saccade bench model configs/mask_rcnn/swin_tiny_fpn_1x_coco.yaml --train"
        })
final class BenchCommand extends BaseCommand {

    @Override
    public Integer call() {
        throw new ParameterException(
                spec.commandLine(), "bench what? ops, model CONFIG, or ranks CONFIG");
    }

    /** The number of timed runs. */
    static final class RunsOption {

        @Option(
                names = "--runs",
                paramLabel = "N",
                description = "Timed runs of each variant; 9 by default, 5 for a model.")
        private Optional<Integer> runs = Optional.empty();

        int orElse(int byDefault) {
            int count = runs.orElse(byDefault);
            ConfigArguments.requirePositive("--runs", count);
            return count;
        }
    }

    @Command(
            name = "ops",
            description = {
                "Time every fused operator at the sizes of the tiny models: milliseconds, ratio to"
                        + " the portable form, and fractions of the processor's peak."
            },
            mixinStandardHelpOptions = true)
    void ops(
            @Option(
                            names = "--images",
                            paramLabel = "N",
                            defaultValue = "8",
                            description =
                                    "Images of 224 x 224 in a batch; ${DEFAULT-VALUE} by default.")
                    int images,
            @Mixin RunsOption runs,
            @Mixin JsonOption json) {
        ConfigArguments.requirePositive("--images", images);
        json.print(spec, OperatorBench.all(images, runs.orElse(9)), OperatorBench::table);
    }

    @Command(
            name = "model",
            description =
                    "Time predictions of a model on random pixels; or training steps, and find the"
                            + " largest batch that fits.",
            mixinStandardHelpOptions = true)
    void model(
            @Mixin ConfigArguments config,
            @Mixin ComputeOptions compute,
            @Option(
                            names = "--train",
                            description =
                                    "Time training steps with the optimizer instead of"
                                            + " predictions.")
                    boolean train,
            @Mixin InputOptions input,
            @Option(
                            names = "--images",
                            paramLabel = "N",
                            defaultValue = "1",
                            description = "Images per batch; ${DEFAULT-VALUE} by default.")
                    int images,
            @Mixin RunsOption runs,
            @Option(
                            names = "--fused-only",
                            description = "Do not time portable operators where fused ones run.")
                    boolean fusedOnly,
            @Option(
                            names = "--most-images",
                            paramLabel = "N",
                            defaultValue = "256",
                            description =
                                    "With --train: the largest batch to try, beyond which the"
                                            + " largest batch that fits is estimated; 0 skips the"
                                            + " search, ${DEFAULT-VALUE} by default.")
                    int mostImages,
            @Mixin JsonOption json) {
        ConfigArguments.requirePositive("--images", images);
        Timing.Plan plan = new Timing.Plan(runs.orElse(5), !fusedOnly);
        RunConfig bound = compute.addTo(config).bind();
        ModelBench.Input batch =
                new ModelBench.Input(config.name(), images, input.size(), input.classes());
        json.print(
                spec,
                train
                        ? ModelBench.training(bound, batch, plan, mostImages)
                        : ModelBench.prediction(bound, batch, plan));
    }

    @Command(
            name = "ranks",
            description =
                    "Time steps that ranks take together, and steps that each rank takes alone at"
                            + " the same time; the difference is the cost of communication.",
            mixinStandardHelpOptions = true)
    int ranks(
            @Mixin ConfigArguments config,
            @Mixin ComputeOptions compute,
            @Mixin RankOptions ranks,
            @Mixin InputOptions input,
            @Option(
                            names = "--images",
                            paramLabel = "N",
                            defaultValue = "1",
                            description = "Images per rank; ${DEFAULT-VALUE} by default.")
                    int images,
            @Mixin RunsOption runs,
            @Mixin JsonOption json) {
        ConfigArguments.requirePositive("--images", images);
        ModelBench.Input batch =
                new ModelBench.Input(config.name(), images, input.size(), input.classes());
        int timed = runs.orElse(9);
        RunConfig bound = compute.addTo(config).bind();
        if (ranks.areToBeStarted()) {
            return ranks.start(spec);
        }
        return ranks.together(
                group -> {
                    RanksBench result = RanksBench.run(bound, batch, timed, group);
                    if (group.rank() == 0) {
                        json.print(spec, result);
                    }
                    return 0;
                });
    }
}

package dev.saccade.cli;

import dev.saccade.bench.ModelBench;
import dev.saccade.bench.RanksBench;
import dev.saccade.cli.terminal.JsonOption;
import dev.saccade.cli.terminal.Progress;
import dev.saccade.cli.terminal.StopSignal;
import dev.saccade.core.bench.OperatorBench;
import dev.saccade.core.bench.Timing;
import dev.saccade.train.config.RunConfig;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

import java.util.List;
import java.util.Optional;

@Command(
        name = "bench",
        description = "Benchmark operators, a model or multi-process training.",
        footer = {
            "",
            "Example:  saccade bench ops",
            "          saccade bench model mask_rcnn/swin_tiny_fpn_1x_coco --train",
            "          saccade bench model runs/demo --layers"
        })
final class BenchCommand extends BaseCommand {

    /** Minimum warm-up of a model in seconds. */
    private static final double WARM_UP = 2;

    @Override
    public Integer call() {
        throw new ParameterException(
                spec.commandLine(),
                "missing subcommand; expected ops, model CONFIG or ranks CONFIG");
    }

    static final class RunsOption {

        @Option(
                names = "--runs",
                paramLabel = "N",
                description =
                        "Time each variant, such as fused and portable operators, N times. Default:"
                                + " 5 for bench model, else 9.")
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
                "Benchmark each fused operator on arrays as large as in the tiny model variants,"
                        + " such as Swin-T. Prints the time, the speedup over the portable operator"
                        + " and the percentage of the CPU's peak arithmetic and memory rates."
            },
            mixinStandardHelpOptions = true)
    void ops(
            @Option(
                            names = "--batch-size",
                            paramLabel = "N",
                            defaultValue = "8",
                            description =
                                    "Number of 224x224 images per batch. Default:"
                                            + " ${DEFAULT-VALUE}.")
                    int images,
            @Mixin RunsOption runs,
            @Mixin JsonOption json) {
        ConfigArguments.requirePositive("--batch-size", images);
        int timed = runs.orElse(9);
        json.print(
                spec,
                StopSignal.runHalting(() -> OperatorBench.all(images, timed)),
                OperatorBench::table);
    }

    @Command(
            name = "model",
            description =
                    "Benchmark predictions of a model on random images, after a warm-up of"
                            + " 2 seconds. With --train,"
                            + " benchmark training steps and find the largest batch size that"
                            + " fits into memory.",
            mixinStandardHelpOptions = true)
    void model(
            @Mixin ConfigArguments config,
            @Mixin ComputeOptions compute,
            @Option(
                            names = "--train",
                            description =
                                    "Benchmark training steps, including the"
                                            + " optimizer, instead of predictions.")
                    boolean train,
            @Option(
                            names = "--layers",
                            description =
                                    "List the layers of a prediction with their time, rate,"
                                            + " percentage of the CPU's peak rate, memory format"
                                            + " and precision.")
                    boolean layers,
            @Mixin InputOptions input,
            @Option(
                            names = "--batch-size",
                            paramLabel = "N",
                            defaultValue = "1",
                            description = "Number of images per batch. Default: ${DEFAULT-VALUE}.")
                    int images,
            @Mixin RunsOption runs,
            @Option(
                            names = "--fused-only",
                            description =
                                    "Do not time the portable operators if fused ones are"
                                            + " available.")
                    boolean fusedOnly,
            @Option(
                            names = "--max-batch-size",
                            paramLabel = "N",
                            defaultValue = "256",
                            description =
                                    "With --train, try batch sizes up to N and estimate larger"
                                            + " ones. 0 skips the search. Default:"
                                            + " ${DEFAULT-VALUE}.")
                    int mostImages,
            @Mixin JsonOption json) {
        ConfigArguments.requirePositive("--batch-size", images);
        Timing.Plan plan = new Timing.Plan(runs.orElse(5), !fusedOnly, WARM_UP);
        if (train && layers) {
            throw new ParameterException(spec.commandLine(), "--layers and --train: use only one");
        }
        RunConfig bound = compute.addTo(config).bind();
        ModelBench.Input batch =
                batch(config, images, input.choose(config, bound), config.quantizedLayers());
        json.print(
                spec,
                StopSignal.runHalting(
                        () ->
                                layers
                                        ? ModelBench.layers(bound, batch, plan)
                                        : train
                                                ? ModelBench.training(
                                                        bound, batch, plan, mostImages)
                                                : ModelBench.prediction(bound, batch, plan)));
    }

    private ModelBench.Input batch(
            ConfigArguments config,
            int images,
            InputOptions.Input input,
            List<String> quantizedLayers) {
        input.note().ifPresent(note -> printMessage("%s", note));
        return new ModelBench.Input(
                config.name(), images, input.size(), input.classes(), quantizedLayers);
    }

    @Command(
            name = "ranks",
            description =
                    "Benchmark training steps on several processes (ranks), with and without"
                            + " gradient synchronization. The difference is the communication"
                            + " cost.",
            mixinStandardHelpOptions = true)
    int ranks(
            @Mixin ConfigArguments config,
            @Mixin ComputeOptions compute,
            @Mixin RankOptions ranks,
            @Mixin InputOptions input,
            @Option(
                            names = "--batch-size",
                            paramLabel = "N",
                            defaultValue = "1",
                            description = "Number of images per rank. Default: ${DEFAULT-VALUE}.")
                    int images,
            @Mixin RunsOption runs,
            @Mixin JsonOption json) {
        ConfigArguments.requirePositive("--batch-size", images);
        int timed = runs.orElse(9);
        RunConfig bound = compute.addTo(config).bind();
        if (ranks.isLauncher()) {
            return ranks.start(spec);
        }
        ModelBench.Input batch = batch(config, images, input.choose(config, bound), List.of());
        return StopSignal.runHalting(
                () ->
                        ranks.run(
                                group -> {
                                    RanksBench result =
                                            RanksBench.run(
                                                    bound, batch, timed, group, Progress::new);
                                    if (group.rank() == 0) {
                                        json.print(spec, result);
                                    }
                                    return 0;
                                }));
    }
}

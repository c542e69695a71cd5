package dev.saccade.cli;

import static java.util.stream.Collectors.joining;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.google.common.base.Ascii;

import dev.saccade.cli.bench.LargestBatch;
import dev.saccade.cli.bench.ModelBench;
import dev.saccade.cli.bench.OperatorBench;
import dev.saccade.cli.bench.RanksBench;
import dev.saccade.cli.bench.Timing;
import dev.saccade.cli.terminal.JsonOption;
import dev.saccade.core.DeviceMemory;
import dev.saccade.core.Printable;
import dev.saccade.core.Text;
import dev.saccade.core.nn.Precision;
import dev.saccade.core.ops.memory.HostTransfers;
import dev.saccade.core.ops.script.Kernels;
import dev.saccade.train.config.RunConfig;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Says how fast operators and models are on the machine at hand. */
@Command(
        name = "bench",
        description =
                "Time operators or a model, fused operators against portable ones by turns; or"
                        + " ranks.",
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Example:  saccade bench ops",
            "          saccade bench model configs/mask_rcnn/swin_tiny_fpn_1x_coco.yaml --train"
        })
final class BenchCommand implements Runnable {

    private static final double MILLIS = 1e3;

    @Spec private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(), "bench what? ops, model CONFIG, or ranks CONFIG");
    }

    @Command(
            name = "ops",
            description = {
                "Time every fused operator at the stages of the tiny models: milliseconds, ratio to"
                        + " the portable form, and shares of what the processor can do at best."
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
            @Option(
                            names = "--runs",
                            paramLabel = "N",
                            defaultValue = "9",
                            description =
                                    "Runs of each, of which the median counts; ${DEFAULT-VALUE} by"
                                            + " default.")
                    int runs,
            @Mixin JsonOption json) {
        ConfigArguments.requirePositive("--images", images);
        ConfigArguments.requirePositive("--runs", runs);
        List<OperatorBench> benches = OperatorBench.all(images, runs);
        if (json.wanted()) {
            json.print(spec, benches);
            return;
        }
        PrintWriter out = spec.commandLine().getOut();
        out.printf(Locale.ROOT, "operators: %s%n", Kernels.status());
        out.printf(
                Locale.ROOT,
                "%-19s %-27s %-9s %11s %11s %7s %10s %7s%n",
                "operator",
                "size",
                "pass",
                "fused",
                "portable",
                "ratio",
                "arithmetic",
                "memory");
        for (OperatorBench bench : benches) {
            out.printf(
                    Locale.ROOT,
                    "%-19s %-27s %-9s %11s %11s %7s %10s %7s%n",
                    bench.operator(),
                    bench.size(),
                    bench.pass(),
                    millis(bench.times(), Timing.FUSED),
                    millis(bench.times(), Timing.PORTABLE),
                    ratio(bench.times()),
                    percent(bench.shares(), OperatorBench.ARITHMETIC),
                    percent(bench.shares(), OperatorBench.MEMORY));
        }
        out.flush();
    }

    /**
     * What was measured of a model.
     *
     * @param hostReads how often arrays were read in one pass or step; a GPU is waited for each
     *     time
     * @param hostWrites how often numbers of Java became arrays
     * @param readBy where they were read
     * @param writtenBy where they were written
     * @param largestBatch null of predictions, and where nobody counts the memory of tensors
     */
    record ModelTimes(
            String name,
            String pass,
            int images,
            String input,
            String device,
            Precision precision,
            Map<String, Timing> times,
            @JsonProperty("host_reads") int hostReads,
            @JsonProperty("host_writes") int hostWrites,
            @JsonProperty("host_reads_by") Map<String, Integer> readBy,
            @JsonProperty("host_writes_by") Map<String, Integer> writtenBy,
            long peakMemoryMiB,
            @JsonProperty("largest_batch") LargestBatch largestBatch) {}

    @Command(
            name = "model",
            description =
                    "Time predictions of a model on random pixels; or steps of training, and find"
                            + " the largest batch that fits.",
            mixinStandardHelpOptions = true)
    void model(
            @Mixin ConfigArguments config,
            @Mixin ComputeOptions compute,
            @Option(
                            names = "--train",
                            description =
                                    "Time steps of training, the optimizer's included, instead of"
                                            + " predictions.")
                    boolean train,
            @Mixin InputOptions input,
            @Option(
                            names = "--images",
                            paramLabel = "N",
                            defaultValue = "1",
                            description = "Images in a batch; ${DEFAULT-VALUE} by default.")
                    int images,
            @Option(
                            names = "--runs",
                            paramLabel = "N",
                            defaultValue = "5",
                            description =
                                    "Runs of each, of which the median counts; ${DEFAULT-VALUE} by"
                                            + " default.")
                    int runs,
            @Option(
                            names = "--fused-only",
                            description = "Do not time portable operators where fused ones run.")
                    boolean fusedOnly,
            @Option(
                            names = "--most-images",
                            paramLabel = "N",
                            defaultValue = "256",
                            description =
                                    "With --train, up to how many images the largest batch that"
                                            + " fits is tried, beyond them reckoned; 0 looks for"
                                            + " none, ${DEFAULT-VALUE} by default.")
                    int mostImages,
            @Mixin JsonOption json) {
        ConfigArguments.requirePositive("--images", images);
        ConfigArguments.requirePositive("--runs", runs);
        compute.overrides().forEach(config::override);
        RunConfig bound = config.bind();
        Timing.Plan plan = new Timing.Plan(runs, !fusedOnly);
        Optional<LargestBatch> largest =
                train && mostImages > 0
                        ? LargestBatch.find(bound, input.size(), input.classes(), mostImages)
                        : Optional.empty();
        try (ModelBench bench = new ModelBench(bound, input.size(), images, input.classes())) {
            ModelBench.Result measured = train ? bench.train(plan) : bench.predict(plan);
            HostTransfers transfers = measured.transfers();
            ModelTimes result =
                    new ModelTimes(
                            config.name(),
                            train ? "training" : "prediction",
                            images,
                            input.size().toString(),
                            bench.device(),
                            bound.precision(),
                            measured.times(),
                            sum(transfers.reads()),
                            sum(transfers.writes()),
                            transfers.reads(),
                            transfers.writes(),
                            DeviceMemory.peakResidentBytes() >> 20,
                            largest.orElse(null));
            if (json.wanted()) {
                json.print(spec, result);
            } else {
                print(result, spec.commandLine().getOut());
            }
        }
    }

    /**
     * What was measured of ranks.
     *
     * @param images of each rank in a step
     */
    record RanksTimes(String name, int ranks, int images, String input, Map<String, Timing> times) {

        double reduction() {
            return times.get(RanksBench.TOGETHER).median()
                    - times.get(RanksBench.EACH_ALONE).median();
        }
    }

    @Command(
            name = "ranks",
            description =
                    "Time steps that ranks take together, and steps that each takes alone at the"
                            + " same time; the difference is what the ranks cost.",
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
                            description = "Images of each rank; ${DEFAULT-VALUE} by default.")
                    int images,
            @Option(
                            names = "--runs",
                            paramLabel = "N",
                            defaultValue = "9",
                            description =
                                    "Runs of each, of which the median counts; ${DEFAULT-VALUE} by"
                                            + " default.")
                    int runs,
            @Mixin JsonOption json) {
        ConfigArguments.requirePositive("--images", images);
        ConfigArguments.requirePositive("--runs", runs);
        compute.overrides().forEach(config::override);
        RunConfig bound = config.bind();
        if (ranks.areToBeStarted()) {
            return ranks.start(spec);
        }
        return ranks.together(
                group -> {
                    RanksTimes result =
                            new RanksTimes(
                                    config.name(),
                                    group.worldSize(),
                                    images,
                                    input.size().toString(),
                                    RanksBench.measure(
                                            bound,
                                            input.classes(),
                                            images,
                                            input.size(),
                                            runs,
                                            group));
                    if (group.rank() == 0 && json.wanted()) {
                        json.print(spec, result);
                    } else if (group.rank() == 0) {
                        print(result, spec.commandLine().getOut());
                    }
                    return 0;
                });
    }

    private static void print(RanksTimes result, PrintWriter out) {
        out.println(
                Printable.format(
                        "%s, %d ranks with %d x %s each",
                        result.name(), result.ranks(), result.images(), result.input()));
        print(result.times(), out);
        out.printf(Locale.ROOT, "  difference     %.3f s%n", result.reduction());
        out.flush();
    }

    private static void print(Map<String, Timing> times, PrintWriter out) {
        times.forEach(
                (form, time) ->
                        out.printf(
                                Locale.ROOT,
                                "  %-13s  %.3f s, at best %.3f s%n",
                                form,
                                time.median(),
                                time.least()));
    }

    private static void print(ModelTimes result, PrintWriter out) {
        out.println(
                Printable.format(
                        "%s, %s, %d x %s",
                        result.name(), result.pass(), result.images(), result.input()));
        out.printf(Locale.ROOT, "  device         %s%n", result.device());
        out.printf(
                Locale.ROOT, "  precision      %s%n", Ascii.toLowerCase(result.precision().name()));
        out.printf(Locale.ROOT, "  operators      %s%n", Kernels.status());
        print(result.times(), out);
        out.printf(Locale.ROOT, "  ratio          %s%n", ratio(result.times()));
        out.printf(
                Locale.ROOT, "  host reads     %s%n", places(result.hostReads(), result.readBy()));
        out.printf(
                Locale.ROOT,
                "  host writes    %s%n",
                places(result.hostWrites(), result.writtenBy()));
        out.printf(
                Locale.ROOT, "  peak memory    %d MiB of this process%n", result.peakMemoryMiB());
        if (result.largestBatch() != null) {
            out.printf(Locale.ROOT, "  largest batch  %s%n", result.largestBatch());
        }
        out.flush();
    }

    private static int sum(Map<String, Integer> times) {
        return times.values().stream().mapToInt(Integer::intValue).sum();
    }

    private static String places(int sum, Map<String, Integer> times) {
        String each =
                times.entrySet().stream()
                        .map(place -> place.getKey() + " " + place.getValue())
                        .collect(joining(", ", " (", ")"));
        return sum + (sum == 0 ? "" : each);
    }

    private static String millis(Map<String, Timing> times, String form) {
        return times.containsKey(form)
                ? Text.format("%.2f ms", times.get(form).median() * MILLIS)
                : "-";
    }

    private static String ratio(Map<String, Timing> times) {
        return times.containsKey(Timing.FUSED) && times.containsKey(Timing.PORTABLE)
                ? Text.format(
                        "%.2f x",
                        times.get(Timing.PORTABLE).median() / times.get(Timing.FUSED).median())
                : "-";
    }

    private static String percent(Map<String, Double> shares, String of) {
        return shares.containsKey(of) ? Text.format("%.0f %%", 100 * shares.get(of)) : "-";
    }
}

package dev.saccade.cli;

import com.google.common.collect.ImmutableMap;

import dev.saccade.cli.terminal.JsonOption;
import dev.saccade.cli.terminal.Progress;
import dev.saccade.core.Problems;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.models.zoo.PretrainedWeights;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

@Command(
        name = "weights",
        description = "List pretrained weights for --init-from, or download them.",
        footer = {
            "",
            "Example:  saccade weights",
            "          saccade weights fetch swin_tiny resnet50",
            "          saccade weights fetch swin_tiny --from https://mirror.example.org/weights"
        })
final class WeightsCommand extends BaseCommand {

    private static final String ROW = "%-44s %-44s %10s  %-12s %s%n";

    @Mixin private JsonOption json;

    @Override
    public Integer call() {
        List<LocalRun> runs = LocalRun.all(Path.of("runs"));
        if (json.isSet()) {
            json.print(
                    spec,
                    Stream.concat(
                                    PretrainedWeights.all().stream().map(WeightsCommand::keys),
                                    runs.stream().map(LocalRun::keys))
                            .toList());
            return 0;
        }
        PrintWriter out = out();
        String title = "";
        for (PretrainedWeights weights : PretrainedWeights.all()) {
            if (!weights.title().equals(title)) {
                title = weights.title();
                out.printf(Locale.ROOT, "%n%s%n  from %s%n%n", title, weights.source());
                out.printf(Locale.ROOT, ROW, "  name", "of", "size", "license", "here");
            }
            out.printf(
                    Locale.ROOT,
                    ROW,
                    "  " + weights.name(),
                    weights.modelName(),
                    weights.mebibytes().map(size -> Text.format("%.1f MiB", size)).orElse("–"),
                    weights.license().orElse("–"),
                    here(weights));
        }
        out.printf(
                Locale.ROOT,
                "%nSizes as published. Download with: ./saccade weights fetch NAME...%n");
        if (!runs.isEmpty()) {
            out.printf(Locale.ROOT, "%nRuns in this folder%n%n");
            for (LocalRun run : runs) {
                out.printf(
                        Locale.ROOT, ROW, "  " + run.folder(), run.model(), run.size(), "", "yes");
            }
        }
        return 0;
    }

    private static String here(PretrainedWeights weights) {
        if (weights.find().isPresent()) {
            return "yes";
        } else if (weights.url().isPresent()) {
            return "no";
        }
        return weights.page().isPresent() ? "manual" : "not published";
    }

    private static Map<String, Object> keys(PretrainedWeights weights) {
        ImmutableMap.Builder<String, Object> keys = ImmutableMap.builder();
        keys.put("name", weights.name());
        keys.put("of", weights.modelName());
        keys.put("file", weights.file());
        keys.put("source", weights.source());
        keys.put("ema", weights.ema());
        weights.url().ifPresent(url -> keys.put("url", url.toString()));
        weights.page().ifPresent(page -> keys.put("page", page));
        weights.license().ifPresent(license -> keys.put("license", license));
        weights.mebibytes().ifPresent(mebibytes -> keys.put("mebibytes", mebibytes));
        weights.sha256().ifPresent(sha256 -> keys.put("sha256", sha256));
        weights.find().ifPresent(here -> keys.put("path", here.toString()));
        return keys.buildOrThrow();
    }

    @Command(
            name = "fetch",
            description = {
                "Download pretrained weights to $SACCADE_CACHE, or ~/.cache/saccade.",
                "Run the command again to continue an interrupted download."
            },
            mixinStandardHelpOptions = true,
            footer = {
                "",
                "Example:  saccade weights fetch swin_tiny",
                "          saccade weights fetch resnet50 --from /media/stick"
            })
    int fetch(
            @Parameters(
                            arity = "1..*",
                            paramLabel = "NAME",
                            description = "Download these weights, such as swin_tiny.")
                    List<String> names,
            @Option(
                            names = "--from",
                            paramLabel = "MIRROR",
                            description =
                                    "Download from this folder or HTTP address, which"
                                            + " has the files under their original names. Default:"
                                            + " $SACCADE_WEIGHTS, else the original URLs.")
                    Optional<String> mirror) {
        Problems problems = new Problems();
        List<PretrainedWeights> requested = new ArrayList<>();
        for (String name : names) {
            try {
                requested.add(PretrainedWeights.named(name));
            } catch (SaccadeException e) {
                problems.add("%s", e.getMessage());
            }
        }
        problems.throwIfAny("weights fetch");
        for (PretrainedWeights weights : requested) {
            Path file = fetched(weights, mirror);
            String license = weights.license().map(spdx -> ", " + spdx).orElse("");
            printMessage("%s%s: %s", weights.name(), license, file);
        }
        return 0;
    }

    private static Path fetched(PretrainedWeights weights, Optional<String> mirror) {
        try (FetchProgress progress = new FetchProgress(weights.name())) {
            return mirror.isPresent() ? weights.fetch(mirror, progress) : weights.fetch(progress);
        }
    }

    /** A progress bar in MiB that appears with the first bytes. */
    private static final class FetchProgress implements PretrainedWeights.Progress, AutoCloseable {

        private static final int BITS_OF_MEBIBYTE = 20;

        private final String name;
        private Optional<Progress> bar = Optional.empty();

        FetchProgress(String name) {
            this.name = name;
        }

        @Override
        public void fetched(long bytes, long total) {
            long done = bytes >> BITS_OF_MEBIBYTE;
            long all = total < 0 ? -1 : total >> BITS_OF_MEBIBYTE;
            bar = bar.or(() -> Optional.of(new Progress(name, done, all, " MiB")));
            bar.get().to(done);
        }

        @Override
        public void close() {
            bar.ifPresent(Progress::close);
        }
    }
}

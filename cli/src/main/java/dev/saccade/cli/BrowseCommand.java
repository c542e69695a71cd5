package dev.saccade.cli;

import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.loader.SampleReader;
import dev.saccade.train.config.RunConfig;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.nio.file.Path;
import java.util.concurrent.Callable;

/** Shows what training will see: photographs after their transforms, with their labels. */
@Command(
        name = "browse",
        description = "Write pictures of augmented training samples with their labels.",
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Example:  saccade browse configs/retinanet/resnet18_fpn_bccd.yaml --data data/bccd"
        })
final class BrowseCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;
    @Mixin private ConfigArguments config;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            defaultValue = "browse",
            description = "Where the pictures go; ${DEFAULT-VALUE} by default.")
    private Path out;

    @Option(
            names = "--count",
            paramLabel = "N",
            defaultValue = "24",
            description = "How many samples; ${DEFAULT-VALUE} by default.")
    private int count;

    @Option(
            names = "--epoch",
            paramLabel = "E",
            defaultValue = "0",
            description = "The epoch whose augmentation is shown; ${DEFAULT-VALUE} by default.")
    private int epoch;

    @Override
    public Integer call() {
        ConfigArguments.requirePositive("--count", count);
        RunConfig run = config.bind();
        Dataset dataset = run.data().requireTrain().open(run.data().root());
        SampleReader reader =
                new SampleReader(run.data().trainTransforms(), run.model().head().targets());
        Pictures written = new Pictures(MadeFolder.cleared(out, "browse"), dataset.classes());
        int wanted = Math.min(count, dataset.size());
        try (Progress progress = new Progress("browse", wanted, " samples")) {
            for (int i = 0; i < wanted; i++) {
                try (Sample sample = reader.trainingSample(dataset, i, run.seed(), epoch)) {
                    written.write(sample);
                }
                progress.to(i + 1);
            }
        }
        String pictures = Count.of(wanted, "picture");
        spec.commandLine().getErr().println(Printable.format("%s written to %s", pictures, out));
        return 0;
    }
}

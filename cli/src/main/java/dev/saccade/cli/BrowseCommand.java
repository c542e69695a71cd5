package dev.saccade.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.cli.terminal.Progress;
import dev.saccade.core.Count;
import dev.saccade.core.OutputFolder;
import dev.saccade.core.Text;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.CheckOptions;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.DatasetSubset;
import dev.saccade.datasets.Sample;
import dev.saccade.datasets.loader.SampleReader;
import dev.saccade.report.BrowseFindings;
import dev.saccade.report.BrowsePage;
import dev.saccade.report.predictions.Pictures;
import dev.saccade.report.runs.RelativeNames;
import dev.saccade.train.config.RunConfig;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

@Command(
        name = "browse",
        description = {
            "Write pictures of augmented training samples with their labels.",
            "The page index.html filters them by class, object size and problem."
        },
        footer = {
            "",
            "Example:  saccade browse configs/retinanet/resnet18_fpn_bccd.yaml --data data/bccd"
        })
final class BrowseCommand extends BaseCommand {

    @Mixin private ConfigArguments config;
    @Mixin private ShortOptions shortOptions;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            defaultValue = "browse",
            description =
                    "Write index.html and the pictures to this folder. Default:"
                            + " ${DEFAULT-VALUE}.")
    private Path out;

    @Mixin private OverwriteOption overwrite;

    @Option(
            names = "--count",
            paramLabel = "N",
            defaultValue = "24",
            description =
                    "Show N samples, evenly spread over the data set. Default:"
                            + " ${DEFAULT-VALUE}. A page with 10,000 samples is fine.")
    private int count;

    @Option(
            names = "--epoch",
            paramLabel = "E",
            defaultValue = "1",
            description = "Show the augmentation of this epoch, from 1. Default: ${DEFAULT-VALUE}.")
    private int epoch;

    @Override
    public Integer call() {
        config.override(shortOptions);
        ConfigArguments.requirePositive("--count", count);
        ConfigArguments.requirePositive("--epoch", epoch);
        RunConfig run = config.bind();
        Dataset.Config named = run.data().requireTrain();
        Dataset dataset = named.open(run.data().root());
        // Show objects only: the classes of additional label maps have no names.
        TargetKind targets = run.model().head().targets().predicted();
        CheckOptions quick =
                new CheckOptions(false, run.model().head(), run.data().workers(), () -> {})
                        .with(run.data().pixels(), any -> {});
        BrowseFindings faults =
                BrowseFindings.of(dataset, named.check(run.data().root(), quick).findings());
        SampleReader reader =
                new SampleReader(dataset, run.trainTransforms(), targets, run.data().pixels());
        List<Integer> shown = DatasetSubset.spread(dataset, count).indices();
        OutputFolder.checkOutside(out, run.data().root());
        config.run().ifPresent(folder -> OutputFolder.checkOutside(out, folder));
        try (OutputFolder folder = overwrite.create(out, List.of())) {
            Pictures written = new Pictures(folder, dataset.classes());
            List<String> names = RelativeNames.of(dataset);
            List<BrowsePage.Entry> entries = new ArrayList<>();
            try (Progress progress = new Progress("browse", shown.size(), " samples")) {
                for (int index : shown) {
                    List<String> known = faults.ofImage(index);
                    try (Sample sample = reader.trainingSample(index, run.seed(), epoch - 1)) {
                        entries.add(
                                entry(
                                        names.get(index),
                                        sample,
                                        written.write(sample, run.data().pixels()),
                                        known));
                    }
                    progress.to(entries.size());
                }
            }
            BrowsePage page =
                    new BrowsePage(
                            config.name(),
                            subtitle(shown.size(), dataset.size()),
                            dataset.classes(),
                            entries,
                            faults.others(shown));
            folder.write("index.html", page.page().getBytes(UTF_8));
            folder.finish();
        }
        String pictures = Count.of(shown.size(), "picture");
        printMessage("%s written to %s; open %s", pictures, out, out.resolve("index.html"));
        return 0;
    }

    private String subtitle(int shown, int all) {
        String images =
                shown == all
                        ? Count.of(all, "image")
                        : Text.format("%d of %d images; show all with --count %d", shown, all, all);
        return Text.format("Augmented training samples of epoch %d: %s.", epoch, images);
    }

    private static BrowsePage.Entry entry(
            String name, Sample sample, String picture, List<String> faults) {
        Instances objects = sample.targets();
        Set<Integer> labels = new TreeSet<>();
        Set<BrowsePage.ObjectSize> sizes = EnumSet.noneOf(BrowsePage.ObjectSize.class);
        for (int i = 0; i < objects.size(); i++) {
            labels.add(objects.label(i));
            sizes.add(BrowsePage.ObjectSize.of(objects.boxes().area(i)));
        }
        sample.label().ifPresent(labels::add);
        sample.labels().ifPresent(map -> labels.addAll(map.masks().keySet()));
        return new BrowsePage.Entry(
                name,
                Pictures.picture(picture),
                Pictures.thumbnail(picture),
                labels,
                sizes,
                objects.size(),
                faults);
    }
}

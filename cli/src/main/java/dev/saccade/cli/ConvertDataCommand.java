package dev.saccade.cli;

import dev.saccade.cli.terminal.Progress;
import dev.saccade.core.Count;
import dev.saccade.core.OutputFolder;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.DatasetReport;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.Split;
import dev.saccade.datasets.check.Findings;
import dev.saccade.datasets.convert.Conversion;
import dev.saccade.datasets.convert.LabeledImage;
import dev.saccade.datasets.convert.SourceCheck;
import dev.saccade.datasets.convert.SourceLabels;
import dev.saccade.train.data.DataReports;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Turns labels in the formats of others into those that training reads. */
@Command(
        name = "convert-data",
        description = {
            "Convert labels of YOLO, Pascal VOC, LabelMe, CVAT, Cityscapes and the like: objects to"
                    + " COCO's format, label maps to ADE20K's layout; or divide labels in COCO's"
                    + " format into those to learn from and those to measure on. Photographs are"
                    + " linked where the disk allows it, else copied."
        },
        footer = {
            "",
            "Exit code 2 if there are errors; then nothing is written.",
            "Example:  saccade convert-data birds-yolo --out birds",
            "          saccade convert-data birds-voc --out birds --val-share 0.1",
            "          saccade convert-data birds-coco --out birds"
        })
final class ConvertDataCommand extends BaseCommand {

    private static final double USUAL_SHARE = 0.2;

    @Parameters(
            index = "0",
            paramLabel = "FOLDER",
            description = "Images and labels; they are not changed.")
    private Path from;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            required = true,
            description = "Folder of the converted data set.")
    private Path out;

    @Mixin private OverwriteOption overwrite;

    @Mixin private FormatOption format;

    @Option(
            names = "--val-share",
            paramLabel = "SHARE",
            description =
                    "Validation fraction, used when the labels define no split; 0.2 by default.")
    private Optional<Double> share = Optional.empty();

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "0",
            description = "Seed of the train/validation split; ${DEFAULT-VALUE} by default.")
    private long seed;

    @Option(
            names = "--skip-faulty",
            description = "Skip images with errors instead of writing nothing.")
    private boolean skipFaulty;

    @Override
    public Integer call() {
        share.ifPresent(ConvertDataCommand::requireInside);
        ConvertibleFolder folder = ConvertibleFolder.of(from, format.wanted());
        try (OutputFolder target = overwrite.create(out, List.of(from))) {
            SourceLabels labels = divided(sound(folder.read(this)));
            requireObjects(labels);
            try (Progress progress = new Progress("convert", labels.images().size(), " photos")) {
                Conversion.write(labels, target, progress::step);
            }
            boolean linked = target.isLinked();
            target.finish();
            say(
                    "%s: %s written; images were %s",
                    out,
                    Stream.of(Split.values())
                            .filter(part -> !labels.images(part).isEmpty())
                            .map(part -> told(part, labels))
                            .collect(Collectors.joining(", ")),
                    linked
                            ? "linked, they take no room"
                            : "copied, the disk has no links between the folders");
            err().println("next: ./saccade new " + Printable.shellWord(out));
        }
        return 0;
    }

    private void requireObjects(SourceLabels labels) {
        if (labels.pixels().isEmpty()) {
            for (Split part : List.of(Split.TRAIN, Split.VAL)) {
                DatasetReport report = new Findings().report(SourceCheck.count(labels, part));
                DataReports.requireObjects(part.key(), report)
                        .requireNoErrors(Printable.format("%s: the %s part", from, part.key()));
            }
        }
    }

    private static void requireInside(double value) {
        if (!(value > 0 && value < 1)) {
            throw SaccadeException.user(
                    "--val-share %s: expected a number above 0 and below 1", value);
        }
    }

    private static String told(Split part, SourceLabels labels) {
        return Text.format(
                "%s %s",
                Count.of(labels.images(part).size(), "photograph"),
                part == Split.TRAIN ? "to learn from" : "for " + part.key());
    }

    /** Returns the labels without what is faulty, if that is wanted; else refuses faults. */
    private SourceLabels sound(SourceLabels labels) {
        Findings all = new Findings();
        labels.findings().forEach(all);
        long faulty = labels.images().stream().filter(LabeledImage::isFaulty).count();
        labels.images().stream()
                .filter(photo -> !skipFaulty || !photo.isFaulty())
                .forEach(photo -> photo.findings().forEach(all));
        DatasetReport report = all.report(SourceCheck.count(labels));
        report.messages(Finding.Severity.WARNING)
                .forEach(line -> err().println("warning: " + line));
        report.requireNoErrors(
                Printable.format(
                        "%s%s",
                        from,
                        faulty > 0 && !skipFaulty
                                ? Text.format(
                                                ", of which nothing is converted; mend it, or leave"
                                                        + " out %s with",
                                                Count.of(faulty, "photograph"))
                                        + " --skip-faulty"
                                : ""));
        if (faulty > 0) {
            say("skipped %s with errors (--skip-faulty)", Count.of(faulty, "image"));
        }
        return labels.withoutFaulty();
    }

    private SourceLabels divided(SourceLabels labels) {
        if (labels.images(Split.TRAIN).isEmpty()) {
            throw SaccadeException.user(
                    "%s: has no photograph to learn from, only for %s",
                    from, labels.images(Split.VAL).isEmpty() ? "test" : "val");
        }
        if (!labels.images(Split.VAL).isEmpty()) {
            if (share.isPresent()) {
                throw SaccadeException.user(
                        "--val-share: %s says itself what is for val; leave it out", from);
            }
            return labels;
        }
        double held = share.orElse(USUAL_SHARE);
        say(
                "note: the labels define no validation set; a fraction of %s of the images is"
                        + " used, chosen by image name and --seed %d",
                held, seed);
        return labels.withValidation(held, seed);
    }
}

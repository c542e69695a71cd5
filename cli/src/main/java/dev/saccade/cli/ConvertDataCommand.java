package dev.saccade.cli;

import dev.saccade.cli.terminal.Progress;
import dev.saccade.configgen.LabeledFolder;
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
import dev.saccade.datasets.convert.TargetFormat;
import dev.saccade.datasets.convert.formats.SourceFormat;
import dev.saccade.train.data.DataReports;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

@Command(
        name = "convert-data",
        description = {
            "Convert labels in YOLO, Pascal VOC, LabelMe, Label Studio, CVAT, Cityscapes and other"
                    + " formats.",
            "Objects become COCO annotations, or YOLO or CVAT labels with --to; label maps get"
                    + " the layout of ADE20K, classes of images a folder each."
                    + " COCO annotations are split into training and validation sets. Images are"
                    + " hard-linked if possible, else copied."
        },
        footer = {
            "",
            "Exits with code 2 and writes nothing if there are errors.",
            "Example:  saccade convert-data birds-yolo --out birds",
            "          saccade convert-data birds-voc --out birds --val-fraction 0.1",
            "          saccade convert-data birds-coco --out birds",
            "          saccade convert-data birds-coco --to yolo --out birds-yolo"
        })
final class ConvertDataCommand extends BaseCommand {

    private static final double DEFAULT_VAL_FRACTION = 0.2;

    @Parameters(
            index = "0",
            paramLabel = "FOLDER",
            description = "Read images and labels from this folder, which is not changed.")
    private Path from;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            required = true,
            description = "Write the converted data set to this folder.")
    private Path out;

    @Mixin private OverwriteOption overwrite;

    @Mixin private FormatOption format;

    @Option(
            names = "--to",
            paramLabel = "FORMAT",
            split = ",",
            description =
                    "Write objects in these formats, from coco, yolo and cvat. Training reads coco."
                            + " Default: coco.")
    private List<TargetFormat> to = new ArrayList<>();

    @Option(
            names = "--label-maps",
            description =
                    "Write the masks of objects as label maps, for a segmenter. Later objects cover"
                            + " earlier ones.")
    private boolean labelMaps;

    @Option(
            names = "--val-fraction",
            paramLabel = "FRACTION",
            description =
                    "Use this fraction of the images, above 0 and below 1, for validation"
                            + " if the labels define no split. Default: 0.2.")
    private Optional<Double> valFraction = Optional.empty();

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "0",
            description = "Set the seed of the train/validation split. Default: ${DEFAULT-VALUE}.")
    private long seed;

    @Option(
            names = "--skip-faulty",
            description = "Skip images with errors. Default: write nothing if there are errors.")
    private boolean skipFaulty;

    @Override
    public Integer call() {
        valFraction.ifPresent(ConvertDataCommand::requireValFraction);
        ConvertibleFolder folder = find();
        try (OutputFolder target = overwrite.create(out, List.of(from))) {
            SourceLabels labels = split(removeFaulty(folder.read(this)));
            requireObjects(labels);
            List<TargetFormat> formats = formats(labels);
            try (Progress progress = new Progress("convert", labels.images().size(), " images")) {
                if (labelMaps) {
                    Conversion.writeLabelMaps(labels, target, progress::step);
                } else {
                    Conversion.write(labels, formats, target, progress::step);
                }
            }
            boolean linked = target.isLinked();
            target.finish();
            printMessage(
                    "%s: %s written; images were %s",
                    out,
                    Stream.of(Split.values())
                            .filter(part -> !labels.images(part).isEmpty())
                            .map(part -> describe(part, labels))
                            .collect(Collectors.joining(", ")),
                    linked
                            ? "linked: they need no disk space, and editing one also"
                                    + " changes the original"
                            : "copied, because the file system supports no links"
                                    + " between the folders");
            if (formats.contains(TargetFormat.COCO) || labels.imageClasses()) {
                err().println("next: ./saccade new " + Printable.shellWord(out));
            }
        }
        return 0;
    }

    private ConvertibleFolder find() {
        boolean hasLabelMaps =
                format.value().isEmpty()
                        && Files.isDirectory(from)
                        && SourceFormat.in(from).isEmpty()
                        && LabeledFolder.find(from).filter(LabeledFolder::hasLabelMaps).isPresent();
        if (hasLabelMaps) {
            throw SaccadeException.user(
                    "%s: has label maps in the layout for training, which need no conversion; run"
                            + " ./saccade new %s",
                    from, Printable.shellWord(from));
        }
        return ConvertibleFolder.of(from, format.value());
    }

    private List<TargetFormat> formats(SourceLabels labels) {
        if (labelMaps && (!to.isEmpty() || labels.imageClasses() || labels.pixels().isPresent())) {
            throw SaccadeException.user(
                    "--label-maps: applies to objects, without --to; remove it");
        } else if (labels.imageClasses() && !to.isEmpty()) {
            throw SaccadeException.user(
                    "--to %s: %s has classes of images, which are always written as folders;"
                            + " remove --to",
                    to.get(0).key(), from);
        } else if (labels.imageClasses()) {
            return List.of();
        }
        List<TargetFormat> formats = to.isEmpty() ? List.of(TargetFormat.COCO) : to;
        if (labels.pixels().isPresent() && !to.isEmpty()) {
            throw SaccadeException.user(
                    "--to %s: %s has label maps, which are always written in the layout of ADE20K;"
                            + " remove --to",
                    to.get(0).key(), from);
        }
        long ignored =
                labels.images().stream()
                        .flatMap(image -> image.objects().stream())
                        .filter(object -> object.crowd() || object.ignore())
                        .count();
        formats.stream()
                .filter(format -> !format.keepsIgnored() && ignored > 0)
                .forEach(
                        format ->
                                printMessage(
                                        "note: %s cannot represent crowds; %s left out",
                                        format.title(), Count.of(ignored, "object")));
        return formats;
    }

    private void requireObjects(SourceLabels labels) {
        if (labels.pixels().isEmpty()) {
            for (Split part : List.of(Split.TRAIN, Split.VAL)) {
                DatasetReport report = new Findings().report(SourceCheck.count(labels, part));
                DataReports.requireObjects(part.key(), report)
                        .requireNoErrors(Printable.format("%s: the %s set", from, part.key()));
            }
        }
    }

    private static void requireValFraction(double value) {
        if (!(value > 0 && value < 1)) {
            throw SaccadeException.user(
                    "--val-fraction %s: expected a number above 0 and below 1", value);
        }
    }

    private static String describe(Split part, SourceLabels labels) {
        return Text.format(
                "%s for %s", Count.of(labels.images(part).size(), "image"), part.longName());
    }

    /** Returns the labels without faulty images ({@code --skip-faulty}); throws on other errors. */
    private SourceLabels removeFaulty(SourceLabels labels) {
        Findings all = new Findings();
        labels.findings().forEach(all);
        long faulty = labels.images().stream().filter(LabeledImage::isFaulty).count();
        labels.images().stream()
                .filter(image -> !skipFaulty || !image.isFaulty())
                .forEach(image -> image.findings().forEach(all));
        DatasetReport report = all.report(SourceCheck.count(labels));
        report.messages(Finding.Severity.WARNING)
                .forEach(line -> err().println("warning: " + line));
        report.requireNoErrors(
                Printable.format(
                        "%s%s",
                        from,
                        faulty > 0 && !skipFaulty
                                ? Text.format(
                                                "; nothing was converted; correct the"
                                                        + " labels, or skip %s with",
                                                Count.of(faulty, "image"))
                                        + " --skip-faulty"
                                : ""));
        if (faulty > 0) {
            printMessage("skipped %s with errors (--skip-faulty)", Count.of(faulty, "image"));
        }
        return labels.withoutFaulty();
    }

    private SourceLabels split(SourceLabels labels) {
        if (labels.images(Split.TRAIN).isEmpty()) {
            throw SaccadeException.user(
                    "%s: has no training images, only images for %s",
                    from, labels.images(Split.VAL).isEmpty() ? "test" : "val");
        }
        if (!labels.images(Split.VAL).isEmpty()) {
            if (valFraction.isPresent()) {
                throw SaccadeException.user(
                        "--val-fraction: %s already defines a validation set; remove"
                                + " the option",
                        from);
            }
            return labels;
        }
        double fraction = valFraction.orElse(DEFAULT_VAL_FRACTION);
        printMessage(
                "note: the labels define no validation set; a fraction of %s of the"
                        + " images is selected by image name and --seed %d",
                fraction, seed);
        return labels.withValidation(fraction, seed);
    }
}

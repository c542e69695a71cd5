package dev.saccade.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.collect.EnumMultiset;
import com.google.common.collect.Multiset;

import dev.saccade.core.Count;
import dev.saccade.core.OutputFolder;
import dev.saccade.core.Problems;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.eval.coco.CocoResults;
import dev.saccade.eval.labelerrors.LabelErrorKind;
import dev.saccade.eval.labelerrors.LabelErrors;
import dev.saccade.eval.labelerrors.LabelErrorsFile;
import dev.saccade.report.Report;
import dev.saccade.report.runs.LabelErrorSection;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

@Command(
        name = "label-errors",
        description = {
            "Find suspected label errors: missing labels, wrong classes, inaccurate boxes and"
                    + " labels without an object.",
            "Compares COCO annotations with predictions of models that were not trained on the"
                    + " same images, such as cross-validation. Writes index.html with pictures, and"
                    + " label_errors.json.",
            "For the validation images of a run, see saccade report."
        },
        footer = {
            "",
            "Example:  saccade label-errors --annotations data/bccd/annotations_train.json"
                    + " --images data/bccd/images --results results.json"
        })
final class LabelErrorsCommand extends BaseCommand {

    @Option(
            names = "--annotations",
            paramLabel = "FILE",
            required = true,
            description = "Check the labels in this COCO annotation file.")
    private Path annotations;

    @Option(
            names = "--images",
            paramLabel = "DIR",
            required = true,
            description = "Read the images from this folder.")
    private Path images;

    @Option(
            names = "--results",
            paramLabel = "FILE",
            required = true,
            description =
                    "Compare with these predictions in COCO's results format. Images without"
                            + " predictions are skipped.")
    private Path results;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            defaultValue = "label_errors",
            description =
                    "Write index.html and label_errors.json to this folder. Default:"
                            + " ${DEFAULT-VALUE}.")
    private Path out;

    @Mixin private OverwriteOption overwrite;

    @Option(
            names = "--count",
            paramLabel = "N",
            defaultValue = "200",
            description = "Show the N most suspicious labels. Default: ${DEFAULT-VALUE}.")
    private int count;

    @Override
    public Integer call() {
        ConfigArguments.requirePositive("--count", count);
        requirePaths();
        Dataset dataset = CocoDataset.open(annotations, images, List.of());
        LabelErrors errors = LabelErrors.find(dataset, CocoResults.read(results, dataset));
        try (OutputFolder folder = overwrite.create(out, List.of(annotations, images, results))) {
            Report page =
                    new Report(
                            "Suspected label errors",
                            annotations + ": " + summary(errors),
                            List.of(),
                            List.of(LabelErrorSection.of(dataset, errors, count, PixelFormat.RGB)));
            page.write(folder.resolve("index.html"));
            folder.write(
                    LabelErrorsFile.NAME, LabelErrorsFile.json(errors, dataset).getBytes(UTF_8));
            folder.finish();
        }
        if (errors.inspected() < dataset.size()) {
            printMessage(
                    "note: %d of %s have no predictions and were skipped",
                    dataset.size() - errors.inspected(), Count.of(dataset.size(), "image"));
        }
        if (errors.suspects().isEmpty()) {
            printMessage(
                    "note: no prediction contradicts a label confidently; check that the AP of the"
                            + " model is not low");
        }
        printMessage("%s; open %s", summary(errors), out.resolve("index.html"));
        return 0;
    }

    private void requirePaths() {
        Problems problems = new Problems();
        if (!Files.isRegularFile(annotations)) {
            problems.add("--annotations %s: no such file", annotations);
        }
        if (!Files.isDirectory(images)) {
            problems.add("--images %s: no such folder", images);
        }
        if (!Files.isRegularFile(results)) {
            problems.add("--results %s: no such file", results);
        }
        problems.throwIfAny("label-errors");
    }

    /** Returns text such as "12 suspects in 72 images (missing label 8, wrong class 4)". */
    private static String summary(LabelErrors errors) {
        Multiset<LabelErrorKind> counts = EnumMultiset.create(LabelErrorKind.class);
        errors.suspects().forEach(error -> counts.add(error.kind()));
        String kinds =
                counts.entrySet().stream()
                        .map(kind -> kind.getElement().title() + " " + kind.getCount())
                        .collect(Collectors.joining(", ", " (", ")"));
        return Count.of(errors.suspects().size(), "suspect")
                + " in "
                + Count.of(errors.inspected(), "image")
                + (counts.isEmpty() ? "" : kinds);
    }
}

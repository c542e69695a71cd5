package dev.saccade.cli;

import dev.saccade.cli.terminal.Progress;
import dev.saccade.core.Count;
import dev.saccade.core.OutputFolder;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.convert.TargetFormat;
import dev.saccade.models.Classifier;
import dev.saccade.models.ScoreThresholds;
import dev.saccade.models.Segmenter;
import dev.saccade.models.TrainedModel;
import dev.saccade.report.predictions.ImageInputs;
import dev.saccade.report.suggest.Candidate;
import dev.saccade.report.suggest.Candidates;
import dev.saccade.report.suggest.DiverseSelection;
import dev.saccade.report.suggest.SuggestionWriter;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

@Command(
        name = "suggest",
        description = {
            "Suggest the unlabeled images that are most useful to label next, and label them"
                    + " with predictions.",
            "Prefers images about which the model is uncertain and that differ from each other."
                    + " Writes index.html, suggestions.json, the images, and their labels for a"
                    + " labeling tool."
        },
        footer = {
            "",
            "Example:  saccade suggest runs/resnet18_fpn_bccd unlabeled/ --count 25",
            "          saccade suggest runs/resnet18_fpn_bccd unlabeled/ --format cvat,yolo"
        })
final class SuggestCommand extends BaseCommand {

    @Mixin private RunArgument run;
    @Mixin private ComputeOptions compute;
    @Mixin private ScoreOption score;

    @Parameters(
            index = "1",
            paramLabel = "FOLDER",
            description = "Select from the images in this folder and its subfolders.")
    private Path images;

    @Option(
            names = "--count",
            paramLabel = "N",
            defaultValue = "25",
            description = "Suggest N images. Default: ${DEFAULT-VALUE}.")
    private int count;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            split = ",",
            description =
                    "Write predicted objects in these formats, from coco, yolo and cvat. Default:"
                            + " coco. A segmenter writes label maps, labels/NAME.png, a classifier a folder of"
                            + " images per class, or tags with cvat.")
    private List<TargetFormat> formats = new ArrayList<>();

    @Option(
            names = "--out",
            paramLabel = "DIR",
            defaultValue = "suggestions",
            description = "Write to this folder. Default: ${DEFAULT-VALUE}.")
    private Path out;

    @Mixin private OverwriteOption overwrite;

    @Override
    public Integer call() {
        score.require();
        ConfigArguments.requirePositive("--count", count);
        Path checkpoint = run.checkpoint();
        if (!Files.isDirectory(images)) {
            throw SaccadeException.user("%s: expected a folder of images", images);
        }
        ImageInputs found = ImageInputs.findAll(images);
        found.requireAny();
        List<String> names =
                found.images().stream().map(file -> Candidates.name(images, file)).toList();
        formats.forEach(format -> format.requireNames(names));
        try (TrainedModel<?> model =
                        compute.applyTo(TrainedModel.load(checkpoint, compute.chooseDevice()));
                OutputFolder folder = overwrite.create(out, List.of(checkpoint, images))) {
            run.requireOptionsFor(model, spec, "--score");
            requireFormats(model);
            ScoreThresholds thresholds =
                    model.match(
                            score::thresholds,
                            segmenter -> ScoreThresholds.DEFAULT,
                            classifier -> ScoreThresholds.DEFAULT);
            ImageInputs inputs = found.withoutExtraFiles(model.spec().pixels());
            inputs.notes().forEach(note -> printMessage("%s", note));
            Candidates candidates = predict(model, inputs.images(), thresholds);
            List<Candidate> suggestions = DiverseSelection.select(candidates.images(), count);
            SuggestionWriter writer = new SuggestionWriter(model, suggestions, thresholds);
            writer.writePage(folder, run.name(), candidates.images().size());
            if (model instanceof Segmenter segmenter) {
                writer.writeLabelMaps(folder, segmenter);
            } else if (model instanceof Classifier classifier) {
                if (formats.isEmpty()) {
                    writer.writeClasses(folder, classifier);
                } else {
                    writer.writeTags(folder, classifier);
                }
            } else {
                writer.writeObjects(
                        folder, formats.isEmpty() ? List.of(TargetFormat.COCO) : formats);
            }
            folder.finish();
            List<String> faults = new ArrayList<>(found.faults());
            faults.addAll(candidates.faults());
            return report(suggestions, candidates.images().size(), faults);
        }
    }

    private void requireFormats(TrainedModel<?> model) {
        boolean isSupported =
                model.match(
                        detector -> true,
                        segmenter -> formats.isEmpty(),
                        classifier ->
                                formats.isEmpty() || formats.equals(List.of(TargetFormat.CVAT)));
        if (!isSupported) {
            throw SaccadeException.user(
                    "--format: a segmenter writes label maps only, and a classifier folders or"
                            + " cvat; remove --format%s",
                    model.<String>match(
                            detector -> "",
                            segmenter -> "",
                            classifier -> ", or use --format cvat"));
        }
    }

    private Candidates predict(
            TrainedModel<?> model, List<Path> files, ScoreThresholds thresholds) {
        try (Progress progress = new Progress("predict", files.size(), " images")) {
            return Candidates.of(model, images, files, thresholds, progress::step);
        }
    }

    /** Prints the suggestions and errors; returns the exit code. */
    private int report(List<Candidate> suggestions, int candidates, List<String> faults) {
        for (Candidate image : suggestions) {
            out().println(
                            Text.format(
                                    "%s: uncertainty %.2f: %s",
                                    image.image().file(), image.uncertainty(), image.reason()));
        }
        faults.forEach(fault -> err().println("saccade: " + fault));
        printMessage(
                "%s of %s written to %s; open %s",
                Count.of(suggestions.size(), "suggestion"),
                Count.of(candidates, "image"),
                out,
                out.resolve("index.html"));
        return faults.isEmpty() ? 0 : SaccadeException.Kind.USER.exitCode();
    }
}

package dev.saccade.cli;

import dev.saccade.core.SaccadeException;
import dev.saccade.models.Detector;
import dev.saccade.models.Segmenter;
import dev.saccade.models.TrainedModel;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/** Finds objects, or the class of every pixel, in photographs that nobody has labelled. */
@Command(
        name = "predict",
        description = {
            "Find objects in photographs, or the class of every pixel; write pictures and JSON.",
            "A segmenter also writes labels/NAME.png, the class of every pixel counted from 1 (0:"
                    + " none): labels of a data set with reduce_zero_label."
        },
        mixinStandardHelpOptions = true,
        footer = {"", "Example:  saccade predict runs/demo photo.jpg folder/ --out found"})
final class PredictCommand implements Callable<Integer> {

    private static final List<String> ENDINGS =
            List.of(".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff");

    @Spec private CommandSpec spec;
    @Mixin private RunArgument run;
    @Mixin private ViewOptions views;
    @Mixin private JsonOption json;

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "PHOTO",
            description = "Images, and folders whose images are taken.")
    private List<Path> inputs;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            defaultValue = "predictions",
            description = "Where pictures and predictions.json go; ${DEFAULT-VALUE} by default.")
    private Path out;

    @Option(
            names = "--score",
            paramLabel = "S",
            defaultValue = "0.3",
            description =
                    "Least score of objects that are drawn and written; ${DEFAULT-VALUE} by"
                            + " default.")
    private double minScore;

    @Override
    public Integer call() {
        ConfigArguments.requireShare("--score", minScore);
        List<Path> photos = photos();
        Map<String, List<?>> predicted = new LinkedHashMap<>();
        List<String> unusable = new ArrayList<>();
        String summary;
        try (TrainedModel model = views.load(run.checkpoint())) {
            Predictor predictor = predictor(model);
            try (Progress progress = new Progress("predict", photos.size(), " photos")) {
                for (Path photo : photos) {
                    try {
                        predicted.put(photo.toString(), predictor.predict(photo));
                    } catch (SaccadeException e) {
                        if (e.kind() != SaccadeException.Kind.USER) {
                            throw e;
                        }
                        unusable.add(e.getMessage());
                    }
                    progress.to(predicted.size() + unusable.size());
                }
            }
            summary = predictor.summary();
        }
        JsonOption.write(out.resolve("predictions.json"), predicted);
        if (json.wanted()) {
            json.print(spec, predicted);
        }
        PrintWriter err = spec.commandLine().getErr();
        err.printf("%s in %d photographs, written to %s%n", summary, predicted.size(), out);
        unusable.forEach(message -> err.println("saccade: " + message));
        return unusable.isEmpty() ? 0 : SaccadeException.Kind.USER.exitCode();
    }

    private Predictor predictor(TrainedModel model) {
        Pictures pictures = new Pictures(out, model.classes());
        if (model instanceof Detector detector) {
            return new ObjectPredictor(detector, pictures, minScore);
        }
        run.requireDetectorFor(spec, "--score");
        return new LabelPredictor((Segmenter) model, pictures);
    }

    private List<Path> photos() {
        List<Path> photos = new ArrayList<>();
        for (Path input : inputs) {
            if (!Files.isDirectory(input)) {
                photos.add(input);
                continue;
            }
            try (Stream<Path> files = Files.list(input)) {
                files.filter(PredictCommand::isImage).sorted().forEach(photos::add);
            } catch (IOException e) {
                throw SaccadeException.io(e, "%s: cannot be listed: %s", input, e.getMessage());
            }
        }
        if (photos.isEmpty()) {
            throw SaccadeException.user(
                    "%s: no images; expected files ending in %s", inputs, ENDINGS);
        }
        return photos;
    }

    private static boolean isImage(Path file) {
        String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
        return ENDINGS.stream().anyMatch(name::endsWith);
    }
}

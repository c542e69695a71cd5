package dev.saccade.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.models.TrainedModel;

import org.opencv.core.Mat;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** Finds objects, or the class of every pixel, in photographs that nobody has labeled. */
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

    @Spec private CommandSpec spec;
    @Mixin private RunArgument run;
    @Mixin private ViewOptions views;
    @Mixin private ComputeOptions compute;
    @Mixin private JsonOption json;

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "PHOTO",
            description = {
                "Images, folders whose images are taken, and - for standard input.",
                "Where names may begin with -, write -- in front of them."
            })
    private List<Path> inputs;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            defaultValue = "predictions",
            description =
                    "Where pictures and predictions.json go, in place of those of the last time;"
                            + " ${DEFAULT-VALUE} by default.")
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
        Path checkpoint = run.checkpoint();
        Photographs photos = Photographs.find(inputs);
        photos.requireOutside(out);
        List<String> faults = new ArrayList<>(photos.faults());
        if (photos.files().isEmpty()) {
            throw SaccadeException.user("%s", String.join("; ", faults));
        }
        Map<String, List<?>> predicted = new LinkedHashMap<>();
        String summary;
        try (TrainedModel<?> model = views.load(checkpoint, compute)) {
            Task task = Task.of(model);
            task.requireObjectsFor(run, spec, "--score");
            MadeFolder made = MadeFolder.cleared(out, "predict");
            Predictor predictor = task.predictor(new Pictures(made, model.classes()), minScore);
            try {
                predict(photos.files(), predictor, predicted, faults);
            } finally {
                made.write("predictions.json", JsonOption.text(predicted).getBytes(UTF_8));
            }
            summary = predictor.summary();
        }
        if (json.wanted()) {
            json.print(spec, predicted);
        }
        PrintWriter err = spec.commandLine().getErr();
        String seen = Count.of(predicted.size(), "photograph");
        err.println(Printable.format("%s in %s, written to %s", summary, seen, out));
        photos.notes().forEach(err::println);
        faults.forEach(fault -> err.println("saccade: " + fault));
        if (faults.isEmpty()) {
            return 0;
        }
        int named = photos.files().size() + photos.faults().size();
        err.printf(
                "saccade: %d of %s could not be used%n", faults.size(), Count.of(named, "input"));
        return SaccadeException.Kind.USER.exitCode();
    }

    /** Goes on with the next where a photograph cannot be used, so that none is lost by another. */
    private static void predict(
            List<Path> photos,
            Predictor predictor,
            Map<String, List<?>> predicted,
            List<String> faults) {
        try (Progress progress = new Progress("predict", photos.size(), " photos")) {
            for (int i = 0; i < photos.size(); i++) {
                try {
                    ImageSource photo = Photographs.source(photos.get(i));
                    predicted.put(photo.name(), predict(photo, predictor));
                } catch (SaccadeException e) {
                    if (e.kind() == SaccadeException.Kind.INTERNAL) {
                        throw e;
                    }
                    faults.add(e.getMessage());
                }
                progress.to(i + 1);
            }
        }
    }

    /** Decodes a photograph once, for all that is done with its pixels. */
    static List<?> predict(ImageSource photo, Predictor predictor) {
        Mat image = photo.read();
        try {
            return predictor.predict(ImageSource.of(photo.name(), image));
        } finally {
            image.release();
        }
    }
}

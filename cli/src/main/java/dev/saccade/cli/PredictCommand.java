package dev.saccade.cli;

import com.google.common.math.LongMath;

import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.distributed.ProcessGroup;
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
import java.math.RoundingMode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
    @Mixin private RankOptions ranks;
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
        if (ranks.areToBeStarted()) {
            return ranks.start(spec);
        }
        return ranks.together(this::predict);
    }

    /** Looks at the photographs of a rank; rank 0 tells what was seen in all. */
    private int predict(ProcessGroup group) {
        Path checkpoint = run.checkpoint();
        Photographs photos = Photographs.find(inputs);
        photos.requireOutside(out);
        if (photos.files().isEmpty()) {
            throw SaccadeException.user("%s", String.join("; ", photos.faults()));
        }
        try (TrainedModel<?> model = views.load(checkpoint, compute)) {
            Task task = Task.of(model);
            task.requireObjectsFor(run, spec, "--score");
            List<String> names =
                    group.worldSize() == 1
                            ? List.of()
                            : photos.files().stream().map(PredictCommand::name).toList();
            MadeFolder made =
                    group.rank() == 0
                            ? MadeFolder.cleared(out, "predict")
                            : MadeFolder.shared(out, "predict");
            group.barrier();
            Pictures pictures = new Pictures(made, model.classes());
            pictures.reserve(names);
            // No rank writes before all have seen which names are free.
            group.barrier();
            Predictor predictor = task.predictor(pictures, minScore);
            Predictions told = new Predictions();
            try {
                predict(share(photos.files(), group), predictor, told);
                told = told.ofAll(group);
            } finally {
                if (group.rank() == 0) {
                    made.write("predictions.json", told.json());
                }
            }
            return group.rank() == 0 ? tell(photos, told, predictor) : 0;
        }
    }

    private static String name(Path photo) {
        if (Photographs.isStandardInput(photo)) {
            throw SaccadeException.user(
                    "-: standard input is for one process; predict without --nproc");
        }
        return ImageSource.of(photo).name();
    }

    /** Returns those of the photographs that are a rank's. */
    private static List<Path> share(List<Path> photos, ProcessGroup group) {
        int first = first(photos, group.rank(), group);
        return photos.subList(first, first(photos, group.rank() + 1, group));
    }

    private static int first(List<Path> photos, int rank, ProcessGroup group) {
        long all = photos.size();
        return Math.toIntExact(
                LongMath.divide(all * rank, group.worldSize(), RoundingMode.CEILING));
    }

    private int tell(Photographs photos, Predictions all, Predictor predictor) {
        if (json.wanted()) {
            json.print(spec, all.byPhotograph());
        }
        List<String> faults = new ArrayList<>(photos.faults());
        faults.addAll(all.faults());
        PrintWriter err = spec.commandLine().getErr();
        String seen = Count.of(all.byPhotograph().size(), "photograph");
        String summary = predictor.summary(all.byPhotograph().values());
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
    private static void predict(List<Path> photos, Predictor predictor, Predictions predictions) {
        try (Progress progress =
                new Progress(RankOptions.ofRank("predict"), photos.size(), " photos")) {
            for (int i = 0; i < photos.size(); i++) {
                try {
                    ImageSource photo = Photographs.source(photos.get(i));
                    predictions.add(photo.name(), predict(photo, predictor));
                } catch (SaccadeException e) {
                    if (e.kind() == SaccadeException.Kind.INTERNAL) {
                        throw e;
                    }
                    predictions.addFault(e.getMessage());
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

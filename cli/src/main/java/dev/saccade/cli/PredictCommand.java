package dev.saccade.cli;

import com.google.common.math.LongMath;

import dev.saccade.cli.predictions.Frames;
import dev.saccade.cli.predictions.ImageWarnings;
import dev.saccade.cli.predictions.MadeFolder;
import dev.saccade.cli.predictions.Photographs;
import dev.saccade.cli.predictions.Pictures;
import dev.saccade.cli.predictions.PredictionLines;
import dev.saccade.cli.predictions.Predictions;
import dev.saccade.cli.predictions.Predictor;
import dev.saccade.cli.predictions.Seen;
import dev.saccade.cli.terminal.JsonOption;
import dev.saccade.cli.terminal.Progress;
import dev.saccade.cli.terminal.StopSignal;
import dev.saccade.core.Count;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.models.Detector;
import dev.saccade.models.ScoreThresholds;
import dev.saccade.models.TrainedModel;

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
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** Finds objects, or the class of every pixel, in photographs that nobody has labeled. */
@Command(
        name = "predict",
        description = {
            "Find objects in photographs and videos, or the class of every pixel; write pictures"
                    + " and JSON: predictions.json for photographs, predictions.jsonl with a line"
                    + " for each frame of videos and each photograph of a list.",
            "A segmenter also writes labels/NAME.png, the class of every pixel counted from 1 (0:"
                    + " none): labels of a data set with reduce_zero_label."
        },
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Example:  saccade predict runs/demo photo.jpg folder/ --out found",
            "          saccade predict runs/demo clip.mp4 --every 5 --out found",
            "          saccade predict runs/demo field.tif --tiles 640x640 --out found"
        })
final class PredictCommand implements Callable<Integer> {

    private static final int DEFAULT_MILLIONS = (int) (ImageInfo.MOST_PIXELS / 1_000_000);

    /** Three bytes each are as many as an array may have. */
    private static final int MOST_MILLIONS = Integer.MAX_VALUE / 3 / 1_000_000;

    @Spec private CommandSpec spec;
    @Mixin private RunArgument run;
    @Mixin private ViewOptions views;
    @Mixin private ComputeOptions compute;
    @Mixin private RankOptions ranks;
    @Mixin private JsonOption json;
    @Mixin private ScoreOption score;

    @Parameters(
            index = "1..*",
            arity = "0..*",
            paramLabel = "PHOTO",
            description = {
                "Images, folders whose images are taken, videos, and - for an image through"
                        + " standard input.",
                "Where names may begin with -, write -- in front of them."
            })
    private List<Path> inputs = new ArrayList<>();

    @Option(
            names = "--list",
            paramLabel = "FILE",
            description = "A text file that names photographs, one a line, as many as there are.")
    private Optional<Path> list = Optional.empty();

    @Option(
            names = "--every",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "Look at the first of every N frames of videos, and photographs of a list;"
                            + " ${DEFAULT-VALUE} by default.")
    private int every;

    @Option(
            names = "--pictures",
            negatable = true,
            description =
                    "Write images with the predictions drawn on them (default); with --json"
                            + " --no-pictures no files are written.")
    private Optional<Boolean> drawn = Optional.empty();

    @Option(
            names = "--no-labels",
            description = "Leave names and scores at boxes, and legends of classes, off pictures.")
    private boolean noLabels;

    @Option(
            names = "--max-pixels",
            paramLabel = "N",
            defaultValue = "178",
            description =
                    "Take photographs of up to N million pixels; ${DEFAULT-VALUE} by default. See"
                            + " --tiles.")
    private int maxPixels;

    private final AtomicBoolean stopped = new AtomicBoolean();

    @Option(
            names = "--out",
            paramLabel = "DIR",
            defaultValue = "predictions",
            description =
                    "Where pictures and predictions.json go, in place of those of the last time;"
                            + " ${DEFAULT-VALUE} by default.")
    private Path out;

    @Override
    public Integer call() {
        score.require();
        ConfigArguments.requirePositive("--every", every);
        if (inputs.isEmpty() && list.isEmpty()) {
            throw SaccadeException.user(
                    "nothing to look at: name photographs, folders of them or videos, or give"
                            + " --list FILE");
        }
        if (maxPixels < 1 || maxPixels > MOST_MILLIONS) {
            throw SaccadeException.user(
                    "--max-pixels %d: expected millions, from 1 to %d", maxPixels, MOST_MILLIONS);
        }
        Photographs photos = Photographs.find(inputs);
        if (ranks.areToBeStarted()) {
            requireNoFrames(photos.videos());
            return ranks.start(spec);
        }
        return ranks.together(
                group -> StopSignal.during(() -> predict(photos, group), () -> stopped.set(true)));
    }

    private void requireNoFrames(List<Path> videos) {
        List<Path> frames = new ArrayList<>(videos);
        list.ifPresent(frames::add);
        if (!frames.isEmpty()) {
            throw SaccadeException.user(
                    "%s: videos and lists are for one process; predict without --nproc",
                    frames.get(0));
        }
    }

    /** Looks at the photographs of a rank; rank 0 tells what was seen in all. */
    private int predict(Photographs photos, ProcessGroup group) {
        Path checkpoint = run.checkpoint();
        if (writesFiles()) {
            photos.requireOutside(out);
        }
        long listed = list.map(file -> Frames.count(file, out)).orElse(0L);
        if (group.worldSize() > 1) {
            requireNoFrames(photos.videos());
        }
        if (list.isEmpty()) {
            photos.requireAny();
        }
        try (TrainedModel<?> model = views.load(checkpoint, compute)) {
            Task task = Task.of(model);
            task.requireObjectsFor(run, spec, "--score");
            List<String> names =
                    group.worldSize() == 1
                            ? List.of()
                            : photos.files().stream().map(PredictCommand::name).toList();
            Optional<MadeFolder> made =
                    writesFiles() ? Optional.of(outputFolder(group)) : Optional.empty();
            group.barrier();
            Pictures pictures = new Pictures(made, model.classes(), drawn());
            pictures.reserve(names);
            // No rank writes before all have seen which names are free.
            group.barrier();
            Predictor predictor = task.predictor(pictures, score);
            Predictions told =
                    photos.files().isEmpty()
                            ? new Predictions()
                            : predict(photos.files(), predictor, made, group);
            if (group.rank() > 0) {
                return 0;
            }
            Seen seen = new Seen();
            told.seen().forEach(seen::add);
            if (json.wanted() && !photos.files().isEmpty()) {
                json.print(spec, told.seen());
            }
            List<String> faults = new ArrayList<>(photos.faults());
            faults.addAll(told.faults());
            long faultyFrames =
                    photos.videos().isEmpty() && list.isEmpty()
                            ? 0
                            : frames(
                                    photos.videos(),
                                    listed,
                                    made,
                                    predictor,
                                    seen,
                                    told.warnings());
            boolean hasFrames = !photos.videos().isEmpty();
            sayWhatWasSeen(
                    predictor.summary(seen),
                    Count.of(seen.photographs(), hasFrames ? "frame" : "photograph"));
            predictor
                    .leftOut(seen)
                    .map(note -> "note: " + note)
                    .ifPresent(spec.commandLine().getErr()::println);
            model.match(Optional::of, segmenter -> Optional.<Detector>empty())
                    .ifPresent(this::reportScore);
            photos.notes().forEach(spec.commandLine().getErr()::println);
            told.warnings()
                    .lines()
                    .forEach(line -> spec.commandLine().getErr().println("warning: " + line));
            return sayFaults(faults, faultyFrames, photos.count() + listed);
        }
    }

    /** Returns whether there is anything to write besides the JSON on standard output. */
    private boolean writesFiles() {
        return drawn.orElse(true) || !json.wanted();
    }

    private MadeFolder outputFolder(ProcessGroup group) {
        return group.rank() == 0
                ? MadeFolder.cleared(out, "predict")
                : MadeFolder.shared(out, "predict");
    }

    private Pictures.Drawn drawn() {
        if (!drawn.orElse(true)) {
            return Pictures.Drawn.NOTHING;
        }
        return noLabels ? Pictures.Drawn.WITHOUT_LABELS : Pictures.Drawn.WITH_LABELS;
    }

    private long mostPixels() {
        return maxPixels == DEFAULT_MILLIONS ? ImageInfo.MOST_PIXELS : maxPixels * 1_000_000L;
    }

    /** Looks at photographs, each rank at its own; keeps what was seen if something fails. */
    private Predictions predict(
            List<Path> photos, Predictor predictor, Optional<MadeFolder> made, ProcessGroup group) {
        Predictions own = new Predictions();
        Predictions all;
        try {
            predict(share(photos, group), predictor, own);
            all = own.ofAll(group);
        } catch (RuntimeException e) {
            if (group.rank() == 0 && !own.seen().isEmpty()) {
                made.ifPresent(folder -> keep(own, folder));
            }
            throw e;
        }
        if (group.rank() == 0) {
            made.ifPresent(folder -> folder.write(Predictions.NAME, all.json()));
        }
        return all;
    }

    /** Writes what was seen until something failed, unless that fails, too. */
    private static void keep(Predictions seen, MadeFolder made) {
        try {
            made.write(Predictions.NAME, seen.json());
        } catch (SaccadeException e) {
            Progress.say("saccade: " + e.getMessage());
        }
    }

    /** Looks at videos and the list; returns how many faults there were, which it has told. */
    private long frames(
            List<Path> videos,
            long listed,
            Optional<MadeFolder> made,
            Predictor predictor,
            Seen seen,
            ImageWarnings warnings) {
        Consumer<String> printed =
                line -> {
                    if (json.wanted()) {
                        spec.commandLine().getOut().println(line);
                    }
                };
        try (PredictionLines lines = new PredictionLines(made, printed, seen)) {
            Frames frames =
                    new Frames(predictor, lines, every, mostPixels(), stopped::get, warnings);
            videos.forEach(frames::video);
            list.ifPresent(file -> frames.list(file, listed));
            return frames.faults();
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

    private void sayWhatWasSeen(String summary, String looked) {
        PrintWriter err = spec.commandLine().getErr();
        String written = writesFiles() ? Printable.format(", written to %s", out) : "";
        err.println(summary + " in " + looked + written);
        if (stopped.get()) {
            err.println("saccade: stopped; what was seen until then is there");
        }
    }

    /** Prints the minimum score, unless the user has set it. */
    private void reportScore(Detector detector) {
        if (!score.isSet()) {
            ScoreThresholds recommended = detector.scoreThresholds();
            spec.commandLine()
                    .getErr()
                    .printf(
                            Locale.ROOT,
                            "minimum score %.2f (%s); change it with --score%n",
                            recommended.overall(),
                            recommended.equals(ScoreThresholds.DEFAULT)
                                    ? "default: the checkpoint recommends none"
                                    : "recommended by the checkpoint");
        }
    }

    /** Returns the exit code. */
    private int sayFaults(List<String> faults, long faultsOfFrames, long named) {
        PrintWriter err = spec.commandLine().getErr();
        faults.forEach(fault -> err.println("saccade: " + fault));
        long all = faults.size() + faultsOfFrames;
        if (all == 0) {
            return 0;
        }
        err.printf(
                Locale.ROOT,
                "saccade: %d of %s could not be used%n",
                all,
                Count.of(named, "input"));
        return SaccadeException.Kind.USER.exitCode();
    }

    /** Goes on with the next where a photograph cannot be used, so that none is lost by another. */
    private void predict(List<Path> photos, Predictor predictor, Predictions predictions) {
        try (Progress progress =
                new Progress(RankOptions.ofRank("predict"), photos.size(), " photos")) {
            for (int i = 0; i < photos.size() && !stopped.get(); i++) {
                try {
                    ImageSource photo = Photographs.source(photos.get(i)).mostPixels(mostPixels());
                    predictions.add(
                            photo.name(),
                            predictor.decodeAndPredict(predictions.warnings().of(photo)));
                } catch (SaccadeException e) {
                    if (e.kind() != SaccadeException.Kind.USER) {
                        throw e;
                    }
                    predictions.addFault(e.getMessage());
                }
                progress.to(i + 1);
            }
        }
    }
}

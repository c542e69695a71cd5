package dev.saccade.cli;

import com.fasterxml.jackson.databind.JsonNode;

import dev.saccade.cli.terminal.JsonOption;
import dev.saccade.cli.terminal.Progress;
import dev.saccade.cli.terminal.StopSignal;
import dev.saccade.core.Count;
import dev.saccade.core.OutputFolder;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.core.nn.Quantization;
import dev.saccade.core.structures.ImageInfo;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.models.Detector;
import dev.saccade.models.ScoreThresholds;
import dev.saccade.models.TrainedModel;
import dev.saccade.report.predictions.FramePredictions;
import dev.saccade.report.predictions.ImageInputs;
import dev.saccade.report.predictions.ImageWarnings;
import dev.saccade.report.predictions.Pictures;
import dev.saccade.report.predictions.PredictionSummary;
import dev.saccade.report.predictions.PredictionWriter;
import dev.saccade.report.predictions.Predictions;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

@Command(
        name = "predict",
        description = {
            "Detect objects, segment or classify images and videos.",
            "Writes pictures and predictions.json for images, or predictions.jsonl"
                    + " with a line per frame for videos and a line per image for lists.",
            "Georeferenced TIFFs are also written to predictions.geojson.",
            "A segmenter also writes labels/NAME.png with class indices from 1 (0:"
                    + " unlabeled), as in data sets with reduce_zero_label."
        },
        footer = {
            "",
            "Example:  saccade predict runs/demo photo.jpg folder/ --out found",
            "          saccade predict runs/demo clip.mp4 --every 5 --out found",
            "          saccade predict runs/demo clip.mp4 --track --line 0,240,640,240 --out found",
            "          saccade predict runs/demo field.tif --tiles 640x640 --out found"
        })
final class PredictCommand extends BaseCommand {

    private static final int DEFAULT_MILLIONS = (int) (ImageInfo.MAX_PIXELS / 1_000_000);

    /** A Java array holds at most 2^31 - 1 bytes, and a pixel has three. */
    private static final int MAX_MILLIONS = Integer.MAX_VALUE / 3 / 1_000_000;

    @Mixin private RunArgument run;
    @Mixin private TtaOptions tta;
    @Mixin private ComputeOptions compute;
    @Mixin private RankOptions ranks;
    @Mixin private JsonOption json;
    @Mixin private ScoreOption score;
    @Mixin private TrackOptions track;

    @Parameters(
            index = "1..*",
            arity = "0..*",
            paramLabel = "IMAGE",
            description = {
                "Predict these images, folders of images and videos; - reads an image"
                        + " from standard input.",
                "Put -- before names that start with -."
            })
    private List<Path> inputs = new ArrayList<>();

    @Option(
            names = "--list",
            paramLabel = "FILE",
            description = "Predict the images listed in this text file, one name per line.")
    private Optional<Path> list = Optional.empty();

    @Option(
            names = "--every",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "Predict the first of every N video frames and listed images."
                            + " Default: ${DEFAULT-VALUE}.")
    private int every;

    @Option(
            names = "--pictures",
            negatable = true,
            description =
                    "Draw the predictions on the images (default). --no-pictures"
                            + " --json writes no files.")
    private Optional<Boolean> drawPictures = Optional.empty();

    @Option(names = "--no-labels", description = "Do not draw class names, scores or legends.")
    private boolean noLabels;

    @Option(
            names = "--max-pixels",
            paramLabel = "N",
            defaultValue = "178",
            description =
                    "Set the maximum image size in million pixels. Default:"
                            + " ${DEFAULT-VALUE}. Combine it with --tiles.")
    private int maxPixels;

    private final AtomicBoolean stopped = new AtomicBoolean();
    private final List<String> notes = new ArrayList<>();

    @Option(
            names = "--out",
            paramLabel = "DIR",
            defaultValue = "predictions",
            description =
                    "Write pictures and predictions to this folder. Default:"
                            + " ${DEFAULT-VALUE}.")
    private Path out;

    @Mixin private OverwriteOption overwrite;

    @Override
    public Integer call() {
        score.require();
        ConfigArguments.requirePositive("--every", every);
        if (inputs.isEmpty() && list.isEmpty()) {
            throw SaccadeException.user(
                    "nothing to predict; name images, folders of images or videos, or"
                            + " use --list FILE");
        }
        if (maxPixels < 1 || maxPixels > MAX_MILLIONS) {
            throw SaccadeException.user(
                    "--max-pixels %d: expected million pixels from 1 to %d",
                    maxPixels, MAX_MILLIONS);
        }
        ImageInputs found = ImageInputs.find(inputs);
        track.require(found.images(), list, score);
        if (ranks.isLauncher()) {
            requireNoFrames(found.videos());
            return ranks.start(spec);
        }
        return ranks.run(
                group -> StopSignal.run(() -> predict(found, group), () -> stopped.set(true)));
    }

    private void requireNoFrames(List<Path> videos) {
        List<Path> frames = new ArrayList<>(videos);
        list.ifPresent(frames::add);
        if (!frames.isEmpty()) {
            throw SaccadeException.user(
                    "%s: videos and lists need a single process; remove --nproc", frames.get(0));
        }
    }

    /** Predicts the images of a rank; rank 0 reports all results. Returns the exit code. */
    private int predict(ImageInputs all, ProcessGroup group) {
        Path checkpoint = run.checkpoint();
        if (writesFiles()) {
            all.requireOutside(out);
        }
        long listed = list.map(file -> FramePredictions.count(file, out)).orElse(0L);
        if (group.worldSize() > 1) {
            requireNoFrames(all.videos());
        }
        if (list.isEmpty()) {
            all.requireAny();
        }
        try (TrainedModel<?> model = tta.load(checkpoint, compute);
                OutputFolder folder = writesFiles() ? outputFolder(checkpoint, group) : null) {
            ImageInputs found = all.withoutExtraFiles(model.spec().pixels());
            Optional<OutputFolder> files = Optional.ofNullable(folder);
            run.requireOptionsFor(model, spec, "--score", "--track");
            group.barrier();
            Pictures pictures = new Pictures(files, model.classes(), style());
            if (group.worldSize() > 1) {
                pictures.reserve(found.images().stream().map(PredictCommand::name).toList());
            }
            PredictionWriter writer =
                    new PredictionWriter(
                            model,
                            pictures,
                            model.match(
                                    score::thresholds,
                                    segmenter -> ScoreThresholds.DEFAULT,
                                    classifier -> ScoreThresholds.DEFAULT));
            Predictions predictions =
                    found.images().isEmpty()
                            ? new Predictions()
                            : predict(found.images(), writer, files, group);
            if (group.rank() > 0) {
                return 0;
            }
            PredictionSummary summary = new PredictionSummary(model);
            predictions.entries().forEach(summary::add);
            if (json.isSet() && !found.images().isEmpty()) {
                json.print(spec, predictions.entries());
            }
            boolean hasFrames = !found.videos().isEmpty() || list.isPresent();
            long faultyFrames =
                    hasFrames
                            ? frames(found, listed, writer, files, summary, predictions.warnings())
                            : 0;
            files.ifPresent(OutputFolder::finish);
            report(summary, found.videos().isEmpty() ? "image" : "frame");
            reportQuantization(model);
            if (!score.isSet()) {
                model.match(
                                Optional::of,
                                segmenter -> Optional.<Detector>empty(),
                                classifier -> Optional.<Detector>empty())
                        .ifPresent(this::reportScore);
            }
            PrintWriter err = err();
            found.notes().forEach(err::println);
            notes.forEach(err::println);
            predictions.warnings().lines().forEach(line -> err.println("warning: " + line));
            List<String> faults = new ArrayList<>(found.faults());
            faults.addAll(predictions.faults());
            return report(faults, faultyFrames, found.count() + listed);
        }
    }

    /** Returns whether to write files, not only JSON to standard output. */
    private boolean writesFiles() {
        return drawPictures.orElse(true) || !json.isSet();
    }

    private OutputFolder outputFolder(Path checkpoint, ProcessGroup group) {
        return group.rank() == 0
                ? overwrite.create(out, List.of(checkpoint))
                : OutputFolder.join(out);
    }

    private Pictures.Style style() {
        if (!drawPictures.orElse(true)) {
            return Pictures.Style.NONE;
        }
        return noLabels ? Pictures.Style.WITHOUT_LABELS : Pictures.Style.WITH_LABELS;
    }

    private long maxPixels() {
        return maxPixels == DEFAULT_MILLIONS ? ImageInfo.MAX_PIXELS : maxPixels * 1_000_000L;
    }

    /**
     * Predicts the images of this rank and returns the predictions of all ranks. On an error, only
     * the finished predictions of rank 0 are kept.
     */
    private Predictions predict(
            List<Path> images,
            PredictionWriter writer,
            Optional<OutputFolder> folder,
            ProcessGroup group) {
        Predictions own = new Predictions();
        Predictions all;
        try (Progress progress =
                new Progress(RankOptions.ofRank("predict"), images.size(), " images")) {
            own.addAll(
                    imagesOfRank(images, group), writer, maxPixels(), stopped::get, progress::to);
            all = own.gather(group);
        } catch (RuntimeException e) {
            if (group.rank() == 0 && !own.entries().isEmpty()) {
                folder.ifPresent(files -> keep(own, files));
            }
            throw e;
        }
        if (group.rank() == 0) {
            folder.ifPresent(files -> notes.addAll(all.write(files)));
        }
        return all;
    }

    private static void keep(Predictions predictions, OutputFolder folder) {
        try {
            predictions.write(folder);
            folder.finish();
        } catch (SaccadeException e) {
            Progress.println("saccade: " + e.getMessage());
        }
    }

    /** Predicts videos and the image list; returns the number of errors, which are logged. */
    private long frames(
            ImageInputs found,
            long listed,
            PredictionWriter writer,
            Optional<OutputFolder> folder,
            PredictionSummary summary,
            ImageWarnings warnings) {
        Consumer<JsonNode> print =
                entry -> {
                    summary.add(entry);
                    if (json.isSet()) {
                        out().println(entry);
                    }
                };
        try (FramePredictions frames =
                new FramePredictions(
                        writer,
                        new FramePredictions.Settings(
                                every, maxPixels(), stopped::get, track.settings(folder)),
                        new FramePredictions.Output(
                                folder, print, warnings, Progress::println, Progress::new))) {
            found.videos().forEach(frames::addVideo);
            list.ifPresent(file -> frames.addList(file, listed));
            return frames.faults();
        } catch (RuntimeException e) {
            if (summary.images() > 0 && folder.isPresent()) {
                folder.get().finish();
                printMessage("saccade: the finished predictions are in %s", out);
            }
            throw e;
        }
    }

    private static String name(Path image) {
        if (ImageInputs.isStandardInput(image)) {
            throw SaccadeException.user("-: standard input needs a single process; remove --nproc");
        }
        return ImageSource.of(image).name();
    }

    private static List<Path> imagesOfRank(List<Path> images, ProcessGroup group) {
        return images.subList(
                first(images, group.rank(), group), first(images, group.rank() + 1, group));
    }

    private static int first(List<Path> images, int rank, ProcessGroup group) {
        return (int) Math.ceil((double) images.size() * rank / group.worldSize());
    }

    private void report(PredictionSummary summary, String unit) {
        PrintWriter err = err();
        String written = writesFiles() ? Printable.format(", written to %s", out) : "";
        err.println(summary.text() + " in " + Count.of(summary.images(), unit) + written);
        if (stopped.get()) {
            err.println("saccade: stopped; the finished predictions were kept");
        }
        summary.note().ifPresent(note -> err.println("note: " + note));
    }

    private void reportQuantization(TrainedModel<?> model) {
        int layers = model.spec().quantizedLayers().size();
        if (layers > 0) {
            printMessage(
                    "quantized model: %s",
                    Quantization.isFast() && !model.device().isGpu()
                            ? Count.of(layers, "layer") + " with 8-bit or bfloat16 products"
                            : "not faster here; it needs a CPU with AVX-512 VNNI and AVX-512 BF16");
        }
    }

    private void reportScore(Detector detector) {
        ScoreThresholds recommended = detector.scoreThresholds();
        err().printf(
                        Locale.ROOT,
                        "minimum score %.2f (%s); change it with --score%n",
                        recommended.overall(),
                        recommended.equals(ScoreThresholds.DEFAULT)
                                ? "default, because the checkpoint has no recommended score"
                                : "recommended by the checkpoint");
    }

    /** Prints errors; returns the exit code. */
    private int report(List<String> faults, long faultsOfFrames, long named) {
        faults.forEach(fault -> err().println("saccade: " + fault));
        long all = faults.size() + faultsOfFrames;
        if (all == 0) {
            return 0;
        }
        printMessage("saccade: %d of %s could not be predicted", all, Count.of(named, "input"));
        return SaccadeException.Kind.USER.exitCode();
    }
}

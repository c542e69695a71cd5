package dev.saccade.report.predictions;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.collect.ImmutableMap;
import com.google.common.io.MoreFiles;

import dev.saccade.core.OutputFolder;
import dev.saccade.core.Printable;
import dev.saccade.core.ProgressBar;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.datasets.image.PixelFormat;
import dev.saccade.report.BoundedLines;
import dev.saccade.video.Video;
import dev.saccade.video.Video.Frame;
import dev.saccade.video.tracking.Tracker;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Predicts video frames and image lists; writes {@code predictions.jsonl} line by line. */
public final class FramePredictions implements AutoCloseable {

    static final String NAME = "predictions.jsonl";

    private static final int MAX_NAME = 1 << 15;

    /** Frame rate of videos without one. */
    private static final int DEFAULT_RATE = 30;

    /** Higher rates are time bases, not frame rates. */
    private static final int MAX_RATE = 10_000;

    private final PredictionWriter writer;
    private final Settings settings;
    private final Output output;
    private final OutputStream file;
    private long faults;

    /**
     * Settings. Predicts every {@code every}-th frame or listed image, starting with the first.
     * {@code maxPixels} limits images, not frames. Objects of videos are tracked if {@code
     * tracking} is present and the model is a detector.
     */
    public record Settings(
            int every,
            long maxPixels,
            BooleanSupplier stopped,
            Optional<TrackingSettings> tracking) {}

    /**
     * Receivers of results. Without a folder, no files are written; {@code entries} receives the
     * JSON of each image or frame, and {@code log} receives errors and notes.
     */
    public record Output(
            Optional<OutputFolder> folder,
            Consumer<JsonNode> entries,
            ImageWarnings warnings,
            Consumer<String> log,
            ProgressBar.Factory progress) {}

    public FramePredictions(PredictionWriter writer, Settings settings, Output output) {
        this.writer = writer;
        this.settings = settings;
        this.output = output;
        this.file =
                output.folder
                        .map(folder -> folder.create(NAME))
                        .orElse(OutputStream.nullOutputStream());
    }

    /** Returns the number of images and videos with errors. */
    public long faults() {
        return faults;
    }

    /** Predicts frames of a video until the end, an error or {@code stopped}. */
    public void addVideo(Path path) {
        PixelFormat pixels = writer.model().spec().pixels();
        if (!pixels.acceptsRgb8()) {
            fault(
                    SaccadeException.user(
                            "%s: video frames are 8-bit RGB, but the model expects %s; predict"
                                    + " images instead",
                            path, pixels.describe()));
            return;
        }
        String unit = " frames of " + Printable.line(path.getFileName().toString());
        try (Video video = Video.open(path);
                ProgressBar progress =
                        output.progress.open("predict", video.declaredFrames().orElse(-1), unit);
                ClipTracker clip =
                        settings.tracking.map(each -> tracker(path, video, each)).orElse(null)) {
            Optional<ClipTracker> tracker = Optional.ofNullable(clip);
            boolean more = true;
            for (long read = 0; more && !settings.stopped.getAsBoolean(); read++) {
                if (read % settings.every == 0) {
                    Optional<Frame> frame = video.next();
                    frame.ifPresent(next -> addFrame(path, next, tracker));
                    more = frame.isPresent();
                } else {
                    more = video.skip();
                }
                progress.to(more ? read + 1 : read);
            }
            video.notes().forEach(note -> output.log.accept("saccade: " + note));
            tracker.ifPresent(each -> each.report(output.log));
            video.fault().ifPresent(this::fault);
        } catch (SaccadeException e) {
            fault(e);
        }
    }

    private ClipTracker tracker(Path path, Video video, TrackingSettings tracking) {
        double rate = video.framesPerSecond();
        boolean isKnown = rate > 0 && rate <= MAX_RATE;
        if (!isKnown) {
            output.log.accept(
                    Printable.format(
                            "saccade: %s: frame rate is unknown; the tracker assumes %d frames per"
                                    + " second",
                            path, DEFAULT_RATE));
        }
        return new ClipTracker(
                path,
                tracking,
                new Tracker.Source(
                        writer.thresholds().overall(),
                        (isKnown ? rate : DEFAULT_RATE) / settings.every),
                writer.pictures());
    }

    private void addFrame(Path video, Frame frame, Optional<ClipTracker> tracker) {
        try (frame) {
            String name =
                    Text.format(
                            "%s_%06d.%s",
                            MoreFiles.getNameWithoutExtension(video),
                            frame.number(),
                            MoreFiles.getFileExtension(video));
            ImmutableMap<String, Object> source =
                    ImmutableMap.of(
                            "video", video.toString(),
                            "frame", frame.number(),
                            "seconds", frame.seconds());
            PredictionWriter.ObjectWriter objects =
                    tracker.<PredictionWriter.ObjectWriter>map(
                                    each ->
                                            (detector, image, size) ->
                                                    each.add(frame.number(), detector, image, size))
                            .orElse(writer::objects);
            add(writer.write(source, name, frame.image(), objects));
        }
    }

    /** Predicts the images listed in a file, one per line; the progress bar shows {@code count}. */
    public void addList(Path list, long count) {
        try (BufferedReader reader = reader(list);
                Stream<String> names = names(reader);
                ProgressBar progress = output.progress.open("predict", count, " images")) {
            long read = 0;
            for (String name : (Iterable<String>) names::iterator) {
                if (settings.stopped.getAsBoolean()) {
                    return;
                }
                if (read % settings.every == 0) {
                    addImage(name);
                }
                progress.to(++read);
            }
        } catch (IOException | UncheckedIOException e) {
            throw unreadable(list, e);
        }
    }

    private void addImage(String name) {
        try {
            ImageSource image = ImageSource.of(Path.of(name)).maxPixels(settings.maxPixels);
            add(writer.write(output.warnings.of(image)));
        } catch (SaccadeException e) {
            fault(e);
        } catch (InvalidPathException e) {
            fault(Printable.format("%s: is not a valid file name", name));
        }
    }

    private void add(JsonNode entry) {
        try {
            file.write((entry + "\n").getBytes(UTF_8));
            file.flush();
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", NAME, e.getMessage());
        }
        output.entries.accept(entry);
    }

    private void fault(SaccadeException e) {
        if (e.kind() != SaccadeException.Kind.USER) {
            throw e;
        }
        fault(e.getMessage());
    }

    private void fault(String fault) {
        faults++;
        output.log.accept("saccade: " + fault);
    }

    /** Returns the number of images in a list; rejects images inside the output folder. */
    public static long count(Path list, Path out) {
        try (BufferedReader reader = reader(list);
                Stream<String> names = names(reader)) {
            return names.peek(name -> checkOutside(out, name)).count();
        } catch (IOException | UncheckedIOException e) {
            throw unreadable(list, e);
        }
    }

    private static void checkOutside(Path out, String name) {
        try {
            OutputFolder.checkOutside(out, Path.of(name));
        } catch (InvalidPathException e) {
            // The error is reported when the image is read.
            return;
        }
    }

    private static SaccadeException unreadable(Path list, Exception e) {
        return Files.exists(list)
                ? SaccadeException.user("%s: cannot be read as a list of file names: %s", list, e)
                : SaccadeException.user("%s: no such file; expected a list of file names", list)
                        .withSettings("list");
    }

    private static BufferedReader reader(Path list) throws IOException {
        return new BufferedReader(
                new InputStreamReader(BoundedLines.open(list, MAX_NAME), UTF_8.newDecoder()));
    }

    private static Stream<String> names(BufferedReader list) {
        return list.lines().map(String::strip).filter(name -> !name.isEmpty());
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            throw SaccadeException.io(e, "%s: cannot be written: %s", NAME, e.getMessage());
        }
    }
}

package dev.saccade.cli.predictions;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.collect.ImmutableMap;
import com.google.common.io.MoreFiles;

import dev.saccade.cli.terminal.Progress;
import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.report.ShortLines;
import dev.saccade.video.Video;
import dev.saccade.video.Video.Frame;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * Looks at the frames of videos and at the photographs of lists, one after the other, holding one.
 */
public final class Frames {

    private static final List<String> VIDEOS =
            List.of(
                    ".mp4", ".mov", ".m4v", ".avi", ".mkv", ".webm", ".mpg", ".mpeg", ".ts", ".mts",
                    ".m2ts", ".wmv", ".flv", ".3gp", ".ogv", ".mxf");

    private static final int LONGEST_NAME = 1 << 15;

    private final Predictor predictor;
    private final PredictionLines lines;
    private final int every;
    private final long mostPixels;
    private final BooleanSupplier stopped;
    private final ImageWarnings warnings;
    private long faults;

    /**
     * Prepares to look.
     *
     * @param every 1 for all frames, 2 for every other, from the first on
     * @param mostPixels of the photographs of a list
     * @param stopped whether to look at no more
     * @param warnings collects those of the images of a list
     */
    public Frames(
            Predictor predictor,
            PredictionLines lines,
            int every,
            long mostPixels,
            BooleanSupplier stopped,
            ImageWarnings warnings) {
        this.predictor = predictor;
        this.lines = lines;
        this.every = every;
        this.mostPixels = mostPixels;
        this.stopped = stopped;
        this.warnings = warnings;
    }

    /** Returns whether a file is a video by its name. */
    static boolean isVideo(Path file) {
        Path name = file.getFileName();
        return name != null
                && VIDEOS.stream().anyMatch(name.toString().toLowerCase(Locale.ROOT)::endsWith);
    }

    /** Returns how many files and frames could not be used, of which each was said why. */
    public long faults() {
        return faults;
    }

    /** Looks at a video; where it breaks off, what was seen until then stays. */
    public void video(Path file) {
        try (Video video = Video.open(file);
                Progress progress =
                        new Progress(
                                "predict",
                                video.declaredFrames().orElse(-1),
                                " frames of " + Printable.line(file.getFileName().toString()))) {
            for (long read = 0; !stopped.getAsBoolean(); read++) {
                if (read % every != 0) {
                    if (!video.skip()) {
                        break;
                    }
                } else {
                    Optional<Frame> next = video.next();
                    if (next.isEmpty()) {
                        break;
                    }
                    frame(file, next.get());
                }
                progress.to(read + 1);
            }
            video.notes().forEach(note -> Progress.say("saccade: " + note));
            video.fault().ifPresent(this::fault);
        } catch (SaccadeException e) {
            failed(e);
        }
    }

    private void frame(Path file, Frame frame) {
        try (frame) {
            String name =
                    Text.format(
                            "%s_%06d.%s",
                            MoreFiles.getNameWithoutExtension(file),
                            frame.number(),
                            MoreFiles.getFileExtension(file));
            Prediction prediction = predictor.predict(name, frame.image());
            lines.add(
                    ImmutableMap.of(
                            "video", file.toString(),
                            "frame", frame.number(),
                            "seconds", frame.seconds()),
                    prediction);
        }
    }

    /**
     * Returns how many photographs a list names.
     *
     * @param out the folder that is written to, in which none may lie
     */
    public static long count(Path list, Path out) {
        try (BufferedReader reader = reader(list);
                Stream<String> names = names(reader)) {
            return names.peek(name -> requireOutside(out, name)).count();
        } catch (IOException | UncheckedIOException e) {
            throw unreadable(list, e);
        }
    }

    private static void requireOutside(Path out, String name) {
        try {
            Photographs.requireOutside(out, Path.of(name));
        } catch (InvalidPathException e) {
            // Said when its turn comes.
            return;
        }
    }

    private static SaccadeException unreadable(Path list, Exception e) {
        return Files.exists(list)
                ? SaccadeException.user("%s: cannot be read as a list of names: %s", list, e)
                : SaccadeException.user("--list %s: no such file", list);
    }

    private static BufferedReader reader(Path list) throws IOException {
        return new BufferedReader(
                new InputStreamReader(ShortLines.open(list, LONGEST_NAME), UTF_8.newDecoder()));
    }

    private static Stream<String> names(BufferedReader list) {
        return list.lines().map(String::strip).filter(name -> !name.isEmpty());
    }

    /** Looks at the photographs that a file names, one a line. */
    public void list(Path list, long count) {
        try (BufferedReader reader = reader(list);
                Stream<String> names = names(reader);
                Progress progress = new Progress("predict", count, " photos")) {
            long read = 0;
            for (String name : (Iterable<String>) names::iterator) {
                if (stopped.getAsBoolean()) {
                    return;
                }
                if (read % every == 0) {
                    photo(name);
                }
                progress.to(++read);
            }
        } catch (IOException | UncheckedIOException e) {
            throw unreadable(list, e);
        }
    }

    private void photo(String name) {
        Prediction prediction;
        try {
            prediction =
                    predictor.decodeAndPredict(
                            warnings.of(ImageSource.of(Path.of(name)).mostPixels(mostPixels)));
        } catch (SaccadeException e) {
            failed(e);
            return;
        } catch (InvalidPathException e) {
            fault(Printable.format("%s: is no name of a file", name));
            return;
        }
        lines.add(ImmutableMap.of("image", name), prediction);
    }

    /** Goes on with the next where one cannot be used. */
    private void failed(SaccadeException e) {
        if (e.kind() != SaccadeException.Kind.USER) {
            throw e;
        }
        fault(e.getMessage());
    }

    private void fault(String fault) {
        faults++;
        Progress.say("saccade: " + fault);
    }
}

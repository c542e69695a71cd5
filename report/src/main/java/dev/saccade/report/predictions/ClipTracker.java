package dev.saccade.report.predictions;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.collect.ImmutableMap;
import com.google.common.io.MoreFiles;
import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Size;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;
import dev.saccade.models.PredictionJson;
import dev.saccade.models.draw.CountCanvas;
import dev.saccade.video.tracking.LineCounter;
import dev.saccade.video.tracking.MotFormat;
import dev.saccade.video.tracking.TrackedObject;
import dev.saccade.video.tracking.Tracker;
import dev.saccade.video.tracking.ZoneCounter;

import org.opencv.core.Mat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Tracks the objects of one video, counts them, and writes them in MOT format. */
final class ClipTracker implements AutoCloseable {

    private static final String TXT = ".txt";

    private final Path video;
    private final TrackingSettings settings;
    private final Tracker tracker;
    private final List<LineCounter> lines;
    private final List<ZoneCounter> zones;
    private final Pictures pictures;
    private final OutputStream tracks;

    /** Counts all objects: a zone that covers every frame. */
    private final ZoneCounter everywhere = ZoneCounter.everywhere();

    private boolean isStarted;

    ClipTracker(Path video, TrackingSettings settings, Tracker.Source source, Pictures pictures) {
        this.video = video;
        this.settings = settings;
        this.tracker = settings.tracker().build(source);
        this.lines = settings.lines().stream().map(e -> LineCounter.of(e.toArray())).toList();
        this.zones = settings.zones().stream().map(e -> ZoneCounter.of(e.toArray())).toList();
        this.pictures = pictures;
        this.tracks =
                settings.folder()
                        .map(folder -> folder.create(pictures.unused(trackFile(video)) + TXT))
                        .orElse(OutputStream.nullOutputStream());
    }

    private static String trackFile(Path video) {
        return MoreFiles.getNameWithoutExtension(video) + "_tracks" + TXT;
    }

    /** Predicts and tracks the objects of the next frame; returns their JSON. */
    Map<String, Object> add(long frame, Detector detector, ImageSource image, Size size) {
        if (!isStarted) {
            settings.lines().forEach(each -> requireInside("line", each, size));
            settings.zones().forEach(each -> requireInside("zone", each, size));
            isStarted = true;
        }
        List<TrackedObject> objects = new ArrayList<>();
        objects.addAll(tracker.update(detector.detect(image, tracker.minScore())));
        objects.sort(
                Comparator.comparingDouble((TrackedObject each) -> -each.object().score())
                        .thenComparingInt(TrackedObject::id));
        lines.forEach(line -> line.update(objects));
        zones.forEach(zone -> zone.update(objects));
        everywhere.update(objects);
        Map<String, Object> json = json(image, size, objects);
        objects.forEach(each -> write(MotFormat.line(frame, each) + "\n"));
        return json;
    }

    private void requireInside(String kind, ImmutableDoubleArray corners, Size size) {
        for (int axis = 0; axis < 2; axis++) {
            double limit = axis == 0 ? size.width() : size.height();
            boolean isBefore = true;
            boolean isBehind = true;
            for (int i = axis; i < corners.length(); i += 2) {
                isBefore &= corners.get(i) < 0;
                isBehind &= corners.get(i) > limit;
            }
            if (isBefore || isBehind) {
                throw SaccadeException.user(
                        "%s: %s %s is outside of the frames of %s; use pixels of the video",
                        video, kind, text(corners), size.width() + "x" + size.height());
            }
        }
    }

    private void write(String line) {
        try {
            tracks.write(line.getBytes(UTF_8));
        } catch (IOException e) {
            throw unwritable(e);
        }
    }

    private SaccadeException unwritable(IOException e) {
        return SaccadeException.io(e, "%s: tracks cannot be written: %s", video, e.getMessage());
    }

    private Map<String, Object> json(ImageSource image, Size size, List<TrackedObject> tracked) {
        List<DetectedObject> objects = tracked.stream().map(TrackedObject::object).toList();
        List<Integer> ids = tracked.stream().map(TrackedObject::id).toList();
        ImmutableMap.Builder<String, Object> json =
                ImmutableMap.<String, Object>builder()
                        .putAll(
                                pictures.write(
                                        image,
                                        DetectedObject.toInstances(objects, size),
                                        ids,
                                        this::drawCounts))
                        .put("width", size.width())
                        .put("height", size.height())
                        .put("objects", tracked.stream().map(ClipTracker::json).toList());
        if (!lines.isEmpty()) {
            List<Object> counts = new ArrayList<>();
            for (int i = 0; i < lines.size(); i++) {
                counts.add(
                        ImmutableMap.of(
                                "line", settings.lines().get(i).asList(),
                                "in", lines.get(i).in(),
                                "out", lines.get(i).out()));
            }
            json.put("lines", counts);
        }
        if (!zones.isEmpty()) {
            List<Object> counts = new ArrayList<>();
            for (int i = 0; i < zones.size(); i++) {
                counts.add(
                        ImmutableMap.of(
                                "zone", settings.zones().get(i).asList(),
                                "inside", zones.get(i).inside(),
                                "total", zones.get(i).total()));
            }
            json.put("zones", counts);
        }
        return json.buildOrThrow();
    }

    private static Map<String, Object> json(TrackedObject tracked) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("trackId", tracked.id());
        json.putAll(PredictionJson.object(tracked.object(), PredictionJson::rle));
        return json;
    }

    private void drawCounts(Mat picture) {
        for (int i = 0; i < lines.size(); i++) {
            String text = "in " + sum(lines.get(i).in()) + ", out " + sum(lines.get(i).out());
            CountCanvas.draw(picture, settings.lines().get(i), text);
        }
        for (int i = 0; i < zones.size(); i++) {
            int inside = sum(zones.get(i).inside());
            String text = "inside " + inside + ", total " + sum(zones.get(i).total());
            CountCanvas.draw(picture, settings.zones().get(i), text);
        }
    }

    /** Reports the counts of the whole video. */
    void report(Consumer<String> log) {
        log.accept(Printable.format("%s: different objects: %s", video, text(everywhere.total())));
        for (int i = 0; i < lines.size(); i++) {
            log.accept(
                    Printable.format(
                            "%s: line %s: in: %s, out: %s",
                            video,
                            text(settings.lines().get(i)),
                            text(lines.get(i).in()),
                            text(lines.get(i).out())));
        }
        for (int i = 0; i < zones.size(); i++) {
            log.accept(
                    Printable.format(
                            "%s: zone %s: different objects: %s, inside at the end: %s",
                            video,
                            text(settings.zones().get(i)),
                            text(zones.get(i).total()),
                            text(zones.get(i).inside())));
        }
    }

    private static int sum(Map<String, Integer> counts) {
        return counts.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** Returns text such as "5 (3 cup, 2 key)". */
    private static String text(Map<String, Integer> counts) {
        String classes =
                counts.entrySet().stream()
                        .sorted(Map.Entry.comparingByKey())
                        .map(each -> each.getValue() + " " + each.getKey())
                        .collect(Collectors.joining(", ", " (", ")"));
        return sum(counts) + (counts.isEmpty() ? "" : classes);
    }

    private static String text(ImmutableDoubleArray corners) {
        return corners.asList().stream()
                .map(each -> each == Math.rint(each) ? "" + each.longValue() : each.toString())
                .collect(Collectors.joining(","));
    }

    @Override
    public void close() {
        try {
            tracks.close();
        } catch (IOException e) {
            throw unwritable(e);
        }
    }
}

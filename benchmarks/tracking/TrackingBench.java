import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.core.structures.Rle;
import dev.saccade.core.structures.Size;
import dev.saccade.demo.SceneAnimation;
import dev.saccade.demo.SceneAnimation.AnimatedObject;
import dev.saccade.models.Box;
import dev.saccade.models.DetectedObject;
import dev.saccade.video.tracking.MotFormat;
import dev.saccade.video.tracking.TrackedObject;
import dev.saccade.video.tracking.Tracker;

import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.videoio.VideoWriter;
import org.opencv.videoio.Videoio;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Writes sequences with known identities and noisy detections, tracks detections, and measures the
 * time and memory of trackers. {@code detections} converts {@code predictions.jsonl} to {@code
 * det.txt}.
 *
 * <pre>
 * TrackingBench.java sequence FOLDER SEED LEVEL FRAMES
 * TrackingBench.java clip FOLDER SEED LEVEL FRAMES
 * TrackingBench.java detections FOLDER
 * TrackingBench.java track FOLDER TRACKER SCORE FPS
 * TrackingBench.java speed TRACKER OBJECTS FRAMES
 * </pre>
 */
public final class TrackingBench {

    private static final double MIN_VISIBILITY = 0.1;
    private static final Size SIZE = new Size(480, 640);
    private static final Tracker.Source SOURCE = new Tracker.Source(0.5, 30);

    /** Objects, speed, and noise of the detections of a difficulty level. */
    private record Level(
            int objects, double speed, double miss, double jitter, double falsePositives) {

        static Level of(String name) {
            return switch (name) {
                case "clip" -> new Level(6, 3, 0, 0, 0);
                case "easy" -> new Level(8, 3, 0.03, 0.02, 0.1);
                case "medium" -> new Level(16, 5, 0.1, 0.04, 0.5);
                case "hard" -> new Level(30, 7, 0.2, 0.06, 1.5);
                default -> throw new IllegalArgumentException(name);
            };
        }
    }

    private final Size size;
    private final Level level;
    private final int frames;
    private final boolean isClip;
    private final SceneAnimation animation;
    private final SplittableRandom random;
    private final Map<Integer, Integer> identities = new HashMap<>();
    private final Map<Integer, Integer> lastSeen = new HashMap<>();
    private int lastIdentity;

    private record Tracking(Tracker.Config tracker) {}

    public static void main(String[] args) throws IOException {
        switch (args[0]) {
            case "sequence", "clip" ->
                    new TrackingBench(
                                    Long.parseLong(args[2]),
                                    Level.of(args[3]),
                                    Integer.parseInt(args[4]),
                                    args[0].equals("clip"))
                            .write(Files.createDirectories(Path.of(args[1])));
            case "detections" -> convert(Path.of(args[1]));
            case "track" ->
                    track(
                            Path.of(args[1]),
                            args[2],
                            new Tracker.Source(
                                    Double.parseDouble(args[3]), Double.parseDouble(args[4])));
            case "speed" ->
                    measureSpeed(
                            tracker(args[1], SOURCE),
                            Integer.parseInt(args[2]),
                            Integer.parseInt(args[3]));
            default -> throw new IllegalArgumentException(args[0]);
        }
    }

    private TrackingBench(long seed, Level level, int frames, boolean isClip) {
        this.level = level;
        this.frames = frames;
        this.isClip = isClip;
        size = isClip ? new Size(240, 320) : SIZE;
        double scale = isClip ? 1 : 0.5;
        animation = new SceneAnimation(seed, size, level.objects, level.speed, scale);
        random = new SplittableRandom(seed);
    }

    /**
     * Writes {@code gt.txt}, and {@code det.txt} with the masks of its lines in {@code masks.txt},
     * or {@code clip.avi}.
     */
    private void write(Path folder) throws IOException {
        VideoWriter video = new VideoWriter();
        if (isClip) {
            video.open(
                    folder.resolve("clip.avi").toString(),
                    Videoio.CAP_OPENCV_MJPEG,
                    VideoWriter.fourcc('M', 'J', 'P', 'G'),
                    30,
                    new org.opencv.core.Size(size.width(), size.height()));
        }
        byte[] pixels = new byte[3 * size.width() * size.height()];
        Mat image = new Mat(size.height(), size.width(), CvType.CV_8UC3);
        try (PrintWriter truth = new PrintWriter(Files.newBufferedWriter(folder.resolve("gt.txt")));
                PrintWriter found = detections(folder.resolve("det.txt"));
                PrintWriter masks = detections(folder.resolve("masks.txt"))) {
            for (int frame = 0; frame < frames; frame++) {
                if (isClip) {
                    add(frame, animation.render(frame, pixels), truth, found, masks);
                    image.put(0, 0, pixels);
                    video.write(image);
                } else {
                    add(frame, animation.objects(frame), truth, found, masks);
                }
            }
        }
        video.release();
    }

    private PrintWriter detections(Path file) throws IOException {
        return new PrintWriter(isClip ? Writer.nullWriter() : Files.newBufferedWriter(file));
    }

    private void add(
            int frame,
            List<AnimatedObject> objects,
            PrintWriter truth,
            PrintWriter found,
            PrintWriter masks) {
        for (AnimatedObject object : objects) {
            // As in MOTChallenge, an object that leaves and returns gets a new identity.
            if (lastSeen.getOrDefault(object.id(), -2) < frame - 1) {
                identities.put(object.id(), ++lastIdentity);
            }
            lastSeen.put(object.id(), frame);
            if (object.visibility() < MIN_VISIBILITY) {
                continue;
            }
            Rle.Bounds box = object.mask().bounds();
            truth.printf(
                    Locale.ROOT,
                    "%d,%d,%d,%d,%d,%d,1,%d,%.3f%n",
                    frame + 1,
                    identities.get(object.id()),
                    box.x(),
                    box.y(),
                    box.width(),
                    box.height(),
                    object.label() + 1,
                    object.visibility());
            corrupt(found, masks, frame, object);
        }
        addFalsePositives(found, masks, frame);
    }

    private void corrupt(
            PrintWriter found, PrintWriter masks, int frame, AnimatedObject object) {
        Rle.Bounds box = object.mask().bounds();
        double hidden = 1 - Math.min(1, object.visibility());
        boolean isMissed = random.nextDouble() < level.miss + 0.6 * hidden * hidden;
        double score = 0.9 - 0.5 * hidden - 0.15 * Math.abs(random.nextGaussian());
        double[] corners = {
            box.x(), box.y(), box.x() + box.width(), box.y() + box.height()
        };
        for (int i = 0; i < 4; i++) {
            corners[i] +=
                    level.jitter * (i % 2 == 0 ? box.width() : box.height()) * random.nextGaussian();
        }
        if (!isMissed && score > 0.02 && corners[2] > corners[0] && corners[3] > corners[1]) {
            write(found, frame, corners, score, object.label());
            Size size = new Size(box.height(), box.width());
            masks.println(place(object.mask().crop(box.y(), box.x(), size), corners));
        }
    }

    /** Stretches a mask to a box, and returns its part in the image as a COCO string. */
    private String place(Rle mask, double... corners) {
        int left = (int) Math.rint(corners[0]);
        int top = (int) Math.rint(corners[1]);
        Size box =
                new Size(
                        Math.max(1, (int) Math.rint(corners[3]) - top),
                        Math.max(1, (int) Math.rint(corners[2]) - left));
        // Large enough for boxes that leave the image.
        Size canvas = new Size(3 * size.height(), 3 * size.width());
        return mask.resize(box)
                .place(top + size.height(), left + size.width(), canvas)
                .crop(size.height(), size.width(), size)
                .toCompressedString();
    }

    private void addFalsePositives(PrintWriter found, PrintWriter masks, int frame) {
        double left = level.falsePositives;
        while (random.nextDouble() < left) {
            double x = random.nextDouble() * size.width();
            double y = random.nextDouble() * size.height();
            double edge = 20 + 60 * random.nextDouble();
            double score = 0.05 + 0.75 * Math.pow(random.nextDouble(), 2);
            int label = random.nextInt(SceneAnimation.classes().size());
            double[] corners = {x, y, x + edge, y + edge};
            write(found, frame, corners, score, label);
            masks.println(place(Rle.fromBox(new Size(1, 1), 0, 0, 1, 1), corners));
            left--;
        }
    }

    private static void write(
            PrintWriter found, int frame, double[] corners, double score, int label) {
        found.printf(
                Locale.ROOT,
                "%d,-1,%.2f,%.2f,%.2f,%.2f,%.4f,%d,-1%n",
                frame + 1,
                corners[0],
                corners[1],
                corners[2] - corners[0],
                corners[3] - corners[1],
                score,
                label + 1);
    }

    /** Tracks {@code det.txt}; writes {@code saccade_TRACKER.txt} and prints the time per frame. */
    private static void track(Path folder, String settings, Tracker.Source source)
            throws IOException {
        Tracker tracker = tracker(settings, source);
        List<List<DetectedObject>> frames = read(folder, settings.contains("mask"));
        Path out = folder.resolve("saccade_" + settings.replaceAll("\\{type: |[,}].*", "") + ".txt");
        long nanos = 0;
        try (PrintWriter lines = new PrintWriter(Files.newBufferedWriter(out))) {
            for (int frame = 0; frame < frames.size(); frame++) {
                List<DetectedObject> objects =
                        frames.get(frame).stream()
                                .filter(each -> each.score() >= tracker.minScore())
                                .toList();
                long start = System.nanoTime();
                List<TrackedObject> tracked = tracker.update(objects);
                nanos += System.nanoTime() - start;
                for (TrackedObject each : tracked) {
                    lines.println(MotFormat.line(frame, each));
                }
            }
        }
        System.out.printf(
                Locale.ROOT, "%s: %.3f ms per frame%n", out, nanos / 1e6 / frames.size());
    }

    private static Tracker tracker(String settings, Tracker.Source source) {
        String text = settings.startsWith("{") ? settings : "{type: " + settings + "}";
        return Configs.bind(ConfigFile.parse("tracker: " + text, "tracker"), Tracking.class)
                .tracker
                .build(source);
    }

    private static List<List<DetectedObject>> read(Path folder, boolean hasMasks)
            throws IOException {
        List<List<DetectedObject>> frames = new ArrayList<>();
        List<String> lines = Files.readAllLines(folder.resolve("det.txt"));
        List<String> masks = hasMasks ? Files.readAllLines(folder.resolve("masks.txt")) : List.of();
        for (int i = 0; i < lines.size(); i++) {
            String[] values = lines.get(i).split(",");
            int frame = Integer.parseInt(values[0]);
            while (frames.size() < frame) {
                frames.add(new ArrayList<>());
            }
            double x = Double.parseDouble(values[2]);
            double y = Double.parseDouble(values[3]);
            Box box =
                    new Box(
                            x,
                            y,
                            x + Double.parseDouble(values[4]),
                            y + Double.parseDouble(values[5]));
            int label = Integer.parseInt(values[7]) - 1;
            frames.get(frame - 1)
                    .add(
                            new DetectedObject(
                                    SceneAnimation.classes().get(label),
                                    label,
                                    Double.parseDouble(values[6]),
                                    box,
                                    hasMasks
                                            ? Optional.of(Rle.fromString(SIZE, masks.get(i)))
                                            : Optional.empty()));
        }
        return frames;
    }

    /** Converts predictions of {@code clip.avi} to {@code det.txt}. */
    private static void convert(Path folder) throws IOException {
        ObjectMapper mapper = new ObjectMapper();
        try (PrintWriter found =
                new PrintWriter(Files.newBufferedWriter(folder.resolve("det.txt")))) {
            for (String line : Files.readAllLines(folder.resolve("predictions.jsonl"))) {
                JsonNode entry = mapper.readTree(line);
                for (JsonNode object : entry.get("objects")) {
                    double x = object.get("x").asDouble();
                    double y = object.get("y").asDouble();
                    double[] corners = {
                        x,
                        y,
                        x + object.get("width").asDouble(),
                        y + object.get("height").asDouble()
                    };
                    write(
                            found,
                            entry.get("frame").asInt(),
                            corners,
                            object.get("score").asDouble(),
                            object.get("classIndex").asInt());
                }
            }
        }
    }

    /** Tracks objects on lines, and prints CPU time and memory after 1,000 frames and at the end. */
    private static void measureSpeed(Tracker tracker, int objects, int frames) throws IOException {
        ThreadMXBean cpu = ManagementFactory.getThreadMXBean();
        SplittableRandom random = new SplittableRandom(1);
        double edge = 1000 / Math.sqrt(objects);
        long nanos = 0;
        for (int frame = 1; frame <= frames; frame++) {
            List<DetectedObject> found = new ArrayList<>();
            for (int i = 0; i < objects; i++) {
                double x = Math.floorMod(263 * i + 3 * frame * (i % 5 - 2), 1920);
                double y = Math.floorMod(461 * i + 2 * frame * (i % 3 - 1), 1920);
                Box box = new Box(x, y + random.nextDouble(), x + edge, y + edge);
                if (random.nextInt(10) > 0) {
                    double score = 0.3 + 0.7 * random.nextDouble();
                    found.add(new DetectedObject("coin", i % 3, score, box, Optional.empty()));
                }
            }
            long start = cpu.getCurrentThreadCpuTime();
            tracker.update(found);
            nanos += cpu.getCurrentThreadCpuTime() - start;
            if (frame == 1000 || frame == frames) {
                String memory =
                        Files.readAllLines(Path.of("/proc/self/status")).stream()
                                .filter(line -> line.startsWith("VmRSS"))
                                .findFirst()
                                .orElse("");
                System.out.printf(
                        Locale.ROOT,
                        "%d frames: %.2f ms each, %s%n",
                        frame,
                        nanos / 1e6 / frame,
                        memory);
            }
        }
    }
}

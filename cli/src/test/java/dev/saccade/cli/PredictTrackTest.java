package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.datasets.image.OpenCv;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opencv.core.Mat;
import org.opencv.core.Size;
import org.opencv.imgcodecs.Imgcodecs;
import org.opencv.videoio.VideoWriter;
import org.opencv.videoio.Videoio;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** {@code predict --track}, and the commands of {@code tracking.md}. */
class PredictTrackTest {

    private static final int FRAMES = 6;
    private static final String TRACKER = "{type: byte_track, new_track_thresh: 0}";

    private static TinyRun tiny;

    @TempDir Path folder;

    @BeforeAll
    static void train() throws IOException {
        tiny = TinyRun.shared();
        OpenCv.load();
    }

    /** Writes a video that shows one scene, 96 x 64 pixels or enlarged. */
    private Path video(String name, int scale) {
        Path file = folder.resolve("clip.avi");
        Size size = new Size(scale * 96, scale * 64);
        VideoWriter writer =
                new VideoWriter(
                        file.toString(),
                        Videoio.CAP_OPENCV_MJPEG,
                        VideoWriter.fourcc('M', 'J', 'P', 'G'),
                        5,
                        size);
        Mat image = Imgcodecs.imread(tiny.scenes().resolve("images/scene_0001.jpg").toString());
        org.opencv.imgproc.Imgproc.resize(image, image, size);
        for (int frame = 0; frame < FRAMES; frame++) {
            writer.write(image);
        }
        image.release();
        writer.release();
        try {
            return Files.move(file, folder.resolve(name));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private CommandResult predict(Object... more) {
        List<Object> args = new ArrayList<>(List.of("predict", tiny.run(), "--score", "0.001"));
        args.addAll(List.of(more));
        return saccade(args.toArray());
    }

    @Test
    void writesIdentitiesAndCounts() throws IOException {
        Path out = folder.resolve("found");
        CommandResult ended =
                predict(
                        video("one.v2.avi", 1),
                        "--track",
                        "--tracker",
                        TRACKER,
                        "--line",
                        "48,0,48,64",
                        "--zone",
                        "-1,-1,97,-1,97,65,-1,65",
                        "--out",
                        out);
        assertEquals(0, ended.code(), ended.err());
        List<JsonNode> lines = new ArrayList<>();
        for (String line : Files.readAllLines(out.resolve("predictions.jsonl"))) {
            lines.add(new ObjectMapper().readTree(line));
        }
        assertEquals(FRAMES, lines.size());
        List<Set<Integer>> ids = new ArrayList<>();
        int objects = 0;
        for (JsonNode line : lines) {
            Set<Integer> now = new HashSet<>();
            line.get("objects").forEach(each -> now.add(each.get("trackId").asInt()));
            assertEquals(line.get("objects").size(), now.size());
            assertEquals(now.size(), sum(line.at("/zones/0/inside")));
            assertEquals(0, sum(line.at("/lines/0/in")) + sum(line.at("/lines/0/out")));
            ids.add(now);
            objects += now.size();
        }
        assertFalse(ids.get(0).isEmpty());
        assertEquals(ids.get(1), ids.get(FRAMES - 1), "a still image");
        List<String> tracks = Files.readAllLines(out.resolve("one.v2_tracks.txt"));
        assertEquals(objects, tracks.size());
        assertTrue(tracks.get(0).matches("1,\\d+(,-?[0-9.]+){4},0\\.[0-9]{4},[1-4],-1"));
        assertTrue(Files.exists(out.resolve("one.v2_000005.jpg")));
        int total = sum(lines.get(FRAMES - 1).at("/zones/0/total"));
        assertTrue(
                ended.err().contains("one.v2.avi: different objects: " + total + " ("),
                ended.err());
        assertTrue(ended.err().contains("line 48,0,48,64: in: 0, out: 0"), ended.err());
    }

    private static int sum(JsonNode counts) {
        int sum = 0;
        for (JsonNode count : counts) {
            sum += count.asInt();
        }
        return sum;
    }

    @Test
    void mistakesAreReported() {
        Path clip = video("one.avi", 1);
        Path image = tiny.scenes().resolve("images/scene_0001.jpg");
        assertRefused("needs a video", "is not a video", image, "--track");
        assertRefused("list", "is not a video", "--list", folder.resolve("x.txt"), "--track");
        assertRefused("no --track", "need --track; add it", clip, "--line", "0,0,9,9");
        assertRefused("point", "--line 1,2,1,2: line: got", clip, "--track", "--line", "1,2,1,2");
        assertRefused("word", "got b, expected numbers", clip, "--track", "--zone", "1,b");
        assertRefused("flat", "three corners", clip, "--track", "--zone", "0,0,5,5,9,9");
        assertRefused("far", "outside of the frames", clip, "--track", "--line", "200,0,200,64");
        assertRefused("type", "byte_trak", clip, "--track", "--tracker", "byte_trak");
        assertRefused(
                "key", "max_agee", clip, "--track", "--tracker", "{type: oc_sort, max_agee: 3}");
        assertRefused("range", "match_thresh", clip, "--track", "--tracker", "{match_thresh: 3}");
        CommandResult perClass =
                saccade("predict", tiny.run(), clip, "--track", "--score", "per-class");
        assertTrue(perClass.err().contains("needs one minimum score"), perClass.err());
    }

    private void assertRefused(String what, String message, Object... args) {
        List<Object> all = new ArrayList<>(List.of(args));
        all.addAll(List.of("--out", folder.resolve(what)));
        CommandResult ended = predict(all.toArray());
        assertEquals(2, ended.code(), what + ": " + ended.err());
        assertTrue(ended.err().contains(message), ended.err());
    }

    @Test
    void thePageTracks() throws Exception {
        video("clip.mp4", 5);
        Files.createSymbolicLink(
                Files.createDirectories(folder.resolve("runs")).resolve("tools"),
                tiny.run().toAbsolutePath());
        PageRun page = PageRun.in(folder, "tracking.md");
        String printed =
                page.run(
                        words -> {
                            List<String> quick = new ArrayList<>(words);
                            if (words.contains("predict")) {
                                int out = quick.indexOf("--out") + 1;
                                quick.set(
                                        out,
                                        folder.resolve("out-" + out + quick.get(out).length())
                                                .toString());
                            }
                            return quick;
                        });
        assertEquals(4, printed.split("clip.mp4: different objects", -1).length - 1, printed);
        assertTrue(printed.contains("clip.mp4: line 0,240,640,240: in: 0, out: 0"), printed);
    }
}

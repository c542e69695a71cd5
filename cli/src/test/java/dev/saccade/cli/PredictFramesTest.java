package dev.saccade.cli;

import static dev.saccade.cli.CommandResult.saccade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import dev.saccade.core.Text;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.video.Video;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.opencv.core.Mat;
import org.opencv.core.Size;
import org.opencv.imgcodecs.Imgcodecs;
import org.opencv.imgproc.Imgproc;
import org.opencv.videoio.VideoWriter;
import org.opencv.videoio.Videoio;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** {@code predict} with videos, lists and large images. */
class PredictFramesTest {

    private static final int FRAMES = 7;

    private static final Path CLIPS = Path.of("../video/src/test/resources/dev/saccade/video");

    /** Offset in clip.mp4. */
    private static final int DATA_OF_NINTH_FRAME = 1986;

    private static TinyRun tiny;

    @TempDir Path folder;
    private Path out;

    @BeforeAll
    static void train() throws IOException {
        tiny = TinyRun.shared();
        OpenCv.load();
    }

    @BeforeEach
    void nameFolder() {
        out = folder.resolve("found");
    }

    private CommandResult predict(Object... more) {
        List<Object> args =
                new ArrayList<>(
                        List.of(
                                "predict",
                                tiny.run(),
                                "--out",
                                out,
                                "--overwrite",
                                "--score",
                                "0.001"));
        args.addAll(List.of(more));
        return saccade(args.toArray());
    }

    /** Writes a video of scenes. */
    private Path video(String name, int frames) {
        Path file = folder.resolve(name);
        VideoWriter writer =
                new VideoWriter(
                        file.toString(),
                        Videoio.CAP_OPENCV_MJPEG,
                        VideoWriter.fourcc('M', 'J', 'P', 'G'),
                        5,
                        new Size(96, 64));
        for (int n = 0; n < frames; n++) {
            Path scene = tiny.scenes().resolve(Text.format("images/scene_%04d.jpg", 1 + n % 8));
            Mat image = Imgcodecs.imread(scene.toString());
            writer.write(image);
            image.release();
        }
        writer.release();
        return file;
    }

    private List<JsonNode> lines() throws IOException {
        List<JsonNode> lines = new ArrayList<>();
        for (String line : Files.readAllLines(out.resolve("predictions.jsonl"))) {
            lines.add(new ObjectMapper().readTree(line));
        }
        return lines;
    }

    private Set<String> written() throws IOException {
        try (Stream<Path> files = Files.list(out)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> !name.startsWith("."))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    @Test
    void writesLineAndPicturePerFrame() throws IOException {
        Path video = video("clip.avi", FRAMES);
        CommandResult ended = predict(video);
        assertEquals(0, ended.code(), ended.err());
        assertTrue(ended.err().contains(" in 7 frames, written to " + out), ended.err());
        List<JsonNode> lines = lines();
        assertEquals(FRAMES, lines.size());
        for (int n = 0; n < FRAMES; n++) {
            JsonNode line = lines.get(n);
            assertEquals(video.toString(), line.get("video").asText());
            assertEquals(n, line.get("frame").asInt());
            assertEquals(n / 5.0, line.get("seconds").asDouble(), 1e-9);
            assertEquals(Text.format("clip_%06d.jpg", n), line.get("picture").asText());
            assertTrue(line.get("objects").isArray());
        }
        assertTrue(lines.stream().anyMatch(line -> line.get("objects").size() > 0));
        Set<String> expected =
                IntStream.range(0, FRAMES)
                        .mapToObj(n -> Text.format("clip_%06d.jpg", n))
                        .collect(Collectors.toCollection(TreeSet::new));
        expected.add("predictions.jsonl");
        assertEquals(expected, written());
        assertEquals(0, predict(video).code(), "what was made is taken away");
        assertEquals(expected, written());
    }

    @Test
    void everySkipsFrames() throws IOException {
        CommandResult ended =
                predict(video("clip.avi", FRAMES), "--every", 3, "--no-pictures", "--json");
        assertEquals(0, ended.code(), ended.err());
        List<JsonNode> printed = new ArrayList<>();
        for (String line : ended.out().lines().toList()) {
            printed.add(new ObjectMapper().readTree(line));
        }
        assertEquals(
                List.of(0, 3, 6), printed.stream().map(line -> line.get("frame").asInt()).toList());
        assertFalse(Files.exists(out), "files");
        CommandResult written = predict(folder.resolve("clip.avi"), "--every", 3, "--no-pictures");
        assertEquals(0, written.code(), written.err());
        assertEquals(printed, lines());
        assertEquals(Set.of("predictions.jsonl"), written());
    }

    @Test
    void h264InMp4IsRead() throws IOException {
        CommandResult ended = predict(CLIPS.resolve("clip.mp4"), "--every", 10);
        assertEquals(0, ended.code(), ended.err());
        assertEquals(
                List.of(0.0, 1.0, 2.0),
                lines().stream().map(line -> line.get("seconds").asDouble()).toList());
        assertTrue(written().contains("clip_000020.jpg"));
    }

    @Test
    void damagedFramesAreReportedWithCode2() throws IOException {
        byte[] clip = Files.readAllBytes(CLIPS.resolve("clip.mp4"));
        clip[DATA_OF_NINTH_FRAME] ^= 0x55;
        Path file = Files.write(folder.resolve("damaged.mp4"), clip);
        CommandResult ended = predict(file, "--every", 10);
        assertEquals(2, ended.code(), ended.err());
        assertTrue(ended.err().contains(file + ": frames 7 to 10 may be damaged"), ended.err());
        assertEquals(3, lines().size());
    }

    @Test
    void propertiesOfAVideoThatAreNotAppliedAreReported() {
        Path file = CLIPS.resolve("hlg.webm");
        CommandResult ended = predict(file);
        assertEquals(0, ended.code(), ended.err());
        assertTrue(
                ended.err().contains("saccade: " + file + ": HDR (HLG) is not tone-mapped"),
                ended.err());
    }

    @Test
    void framesScoreLikeImages() throws IOException {
        Mat rgb = new Mat();
        try (Video video = Video.open(CLIPS.resolve("bt709.mp4"));
                Video.Frame frame = video.next().orElseThrow()) {
            frame.image().copyTo(rgb);
        }
        Path image = folder.resolve("frame.png");
        Imgcodecs.imwrite(image.toString(), rgb);
        rgb.release();
        Path list = Files.writeString(folder.resolve("list.txt"), image.toString());
        CommandResult ended = predict(CLIPS.resolve("bt709.mp4"), "--list", list);
        assertEquals(0, ended.code(), ended.err());
        List<JsonNode> lines = lines();
        assertEquals(lines.get(0).get("found"), lines.get(lines.size() - 1).get("found"));
    }

    @Test
    void truncatedVideoKeepsReadableFrames() throws IOException {
        byte[] whole = Files.readAllBytes(video("clip.avi", FRAMES));
        Path part = Files.write(folder.resolve("part.avi"), Arrays.copyOf(whole, whole.length / 2));
        Path none = Files.writeString(folder.resolve("none.mp4"), "no video");
        CommandResult ended = predict(part, none, folder.resolve("clip.avi"));
        assertEquals(2, ended.code(), ended.err());
        assertTrue(ended.err().contains(part + ": ends early after 3 frames of 7"), ended.err());
        assertTrue(
                ended.err().contains(none + ": is not a video that FFmpeg can read"), ended.err());
        assertTrue(ended.err().endsWith("saccade: 2 of 3 inputs could not be predicted\n"));
        assertEquals(3 + FRAMES, lines().size());
    }

    @Test
    void readsListLineByLine() throws IOException {
        Path first = tiny.photo(folder.resolve("a.jpg"));
        Path bad = Files.writeString(folder.resolve("b.jpg"), "no image");
        Path last = tiny.photo(folder.resolve("c d.jpg"));
        Path missing = folder.resolve("e.jpg");
        Path list = folder.resolve("frames.txt");
        Files.writeString(
                list,
                String.format(Locale.ROOT, "%s\r\n\n%s\n  %s\n%s", first, bad, last, missing));
        CommandResult ended = predict("--list", list);
        assertEquals(2, ended.code(), ended.err());
        assertEquals(
                List.of(first.toString(), last.toString()),
                lines().stream().map(line -> line.get("image").asText()).toList());
        assertEquals(lines().get(0).get("objects"), lines().get(1).get("objects"));
        assertTrue(ended.err().contains(bad + ": is not an image"), ended.err());
        assertTrue(ended.err().contains(missing + ": no such file"), ended.err());
        assertTrue(ended.err().endsWith("saccade: 2 of 4 inputs could not be predicted\n"));
        assertEquals(Set.of("a.jpg", "c d.jpg", "predictions.jsonl"), written());
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void rejectsListWithVeryLongLines() throws IOException, InterruptedException {
        Path list = Files.writeString(folder.resolve("frames.txt"), "\n" + "x".repeat(1 << 16));
        String said = predict("--list", list).err();
        assertTrue(said.contains(list + ": line 2 has more than 32768 bytes"), said);
        Path pipe = folder.resolve("pipe");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        assertTrue(predict("--list", pipe).err().contains("is a pipe, a socket or a device"));
        assertTrue(
                predict("--list", folder).err().contains("cannot be read as a list of file names"));
    }

    @Test
    void predictsImagesAndVideosTogether() throws IOException {
        CommandResult ended = predict(tiny.photo(folder.resolve("a.jpg")), video("clip.avi", 2));
        assertEquals(0, ended.code(), ended.err());
        assertTrue(ended.err().contains(" in 3 frames"), ended.err());
        assertEquals(
                Set.of(
                        "a.jpg",
                        "clip_000000.jpg",
                        "clip_000001.jpg",
                        "predictions.json",
                        "predictions.jsonl"),
                written());
    }

    @Test
    void rejectsInvalidOptionsFirst() throws IOException {
        Path list = folder.resolve("frames.txt");
        Path photo = tiny.photo(folder.resolve("a.jpg"));
        assertTrue(predict().err().contains("nothing to predict; name images"));
        assertEquals(
                String.format(
                        Locale.ROOT,
                        """
                        saccade: %s: no such file; expected a list of file names
                        see --list of saccade predict
                        """,
                        list),
                predict("--list", list).err());
        assertTrue(
                predict(video("clip.avi", 1), "--nproc", 2)
                        .err()
                        .contains("videos and lists need a single process"));
        assertTrue(predict(photo, "--every", 0).err().contains("--every"));
        assertTrue(predict(photo, "--overlap", 0.3).err().contains("needs --tiles"));
        assertTrue(predict(photo, "--tiles", "6x").err().contains("--tiles: got 6x, expected"));
        assertTrue(predict(photo, "--max-pixels", 0).err().contains("from 1 to 715"));
        CommandResult least = predict(photo, "--tiles", "4x4", "--overlap", 2);
        assertTrue(least.err().contains("size[0]: got 4, expected at least 16"), least.err());
        assertTrue(least.err().contains("overlap: got 2.0, expected at most 0.9"), least.err());
        assertFalse(Files.exists(out));
    }

    @Test
    void rejectsListInOutputFolder() throws IOException {
        assertEquals(0, predict(tiny.photo(folder.resolve("a.jpg"))).code());
        Path list = Files.writeString(folder.resolve("frames.txt"), out.resolve("a.jpg") + "\n");
        CommandResult ended = predict("--list", list);
        assertEquals(2, ended.code());
        assertTrue(ended.err().contains("is in the output folder"), ended.err());
        assertTrue(Files.exists(out.resolve("a.jpg")));
    }

    @Test
    void keepsPredictionsUntilCtrlC() throws IOException, InterruptedException {
        Path video = video("clip.avi", 3000);
        Path list = folder.resolve("found.unfinished/predictions.jsonl");
        Process process =
                CommandResult.process("predict", tiny.run(), video, "--no-pictures", "--out", out)
                        .redirectErrorStream(true)
                        .redirectOutput(folder.resolve("said").toFile())
                        .start();
        while (process.isAlive() && (!Files.exists(list) || Files.size(list) < 500)) {
            TimeUnit.MILLISECONDS.sleep(20);
        }
        process.destroy();
        assertEquals(143, process.waitFor());
        List<JsonNode> lines = lines();
        assertTrue(lines.size() > 1 && lines.size() < 3000, "lines: " + lines.size());
        String said = Files.readString(folder.resolve("said"));
        assertTrue(said.contains("in " + lines.size() + " frames"), said);
        assertTrue(said.contains("stopped; the finished predictions were kept"), said);
        CommandResult again = predict(video("short.avi", 1));
        assertEquals(0, again.code(), again.err());
    }

    @Test
    void predictsLargeImagesInTiles() throws IOException {
        Path photo = folder.resolve("large.png");
        Mat scene = Imgcodecs.imread(tiny.photo(folder.resolve("a.jpg")).toString());
        Mat large = new Mat();
        Imgproc.resize(scene, large, new Size(192, 128));
        Imgcodecs.imwrite(photo.toString(), large);
        CommandResult tiled = predict(photo, "--tiles", "96x64", "--overlap", 0.25, "--json");
        assertEquals(0, tiled.code(), tiled.err());
        CommandResult plain = predict(photo, "--json");
        CommandResult one = predict(photo, "--tiles", "192x128", "--json");
        assertEquals(plain.out(), one.out(), "one tile is the image");
        assertTrue(new ObjectMapper().readTree(tiled.out()).get(0).get("objects").size() > 0);
        assertFalse(plain.out().equals(tiled.out()));
        CommandResult square = predict(photo, "--tiles", "64", "--json");
        assertEquals(square.out(), predict(photo, "--tiles", "64x64", "--json").out());
    }
}

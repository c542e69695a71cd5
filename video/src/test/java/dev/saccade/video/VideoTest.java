package dev.saccade.video;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.video.Video.Frame;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;
import org.opencv.core.Size;
import org.opencv.videoio.VideoWriter;
import org.opencv.videoio.Videoio;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Videos of 30 frames, 10 a second, of 64 by 48 pixels: frame n is gray of the level 20 + 7 n, but
 * red in its upper left quarter.
 */
class VideoTest {

    private static final int FRAMES = 30;
    private static final int TOLERANCE = 3;

    @TempDir Path folder;

    /** A clip of x264: H.264 in its High profile with B-frames, the index in front. */
    private Path clip(String name) throws IOException {
        Path file = folder.resolve(name);
        if (!Files.exists(file)) {
            try (InputStream content = VideoTest.class.getResourceAsStream(name)) {
                Files.copy(content, file);
            }
        }
        return file;
    }

    private static List<Frame> frames(Video video) {
        List<Frame> frames = new ArrayList<>();
        for (Optional<Frame> next = video.next(); next.isPresent(); next = video.next()) {
            frames.add(next.get());
        }
        return frames;
    }

    private static void assertGray(Frame frame, int row, int column) {
        double[] color = frame.image().get(row, column);
        double level = 20 + 7 * frame.number();
        assertArrayEquals(new double[] {level, level, level}, color, TOLERANCE);
    }

    @Test
    void readsH264FrameByFrame() throws IOException {
        try (Video video = Video.open(clip("clip.mp4"))) {
            assertEquals(OptionalLong.of(FRAMES), video.declaredFrames());
            assertEquals(10, video.framesPerSecond());
            List<Frame> frames = frames(video);
            assertEquals(FRAMES, frames.size());
            for (int n = 0; n < FRAMES; n++) {
                Frame frame = frames.get(n);
                assertEquals(n, frame.number());
                assertEquals(n / 10.0, frame.seconds(), 1e-9);
                assertEquals(new Size(64, 48), frame.image().size());
                assertGray(frame, 40, 50);
                assertArrayEquals(new double[] {0, 0, 255}, frame.image().get(8, 8), 12);
                frame.close();
            }
            assertEquals(Optional.empty(), video.fault());
        }
    }

    @Test
    void countsSkippedFrames() throws IOException {
        try (Video video = Video.open(clip("clip.mp4"))) {
            for (int n = 0; n < 7; n++) {
                assertTrue(video.skip());
            }
            try (Frame frame = video.next().orElseThrow()) {
                assertEquals(7, frame.number());
                assertEquals(0.7, frame.seconds(), 1e-9);
                assertGray(frame, 40, 50);
            }
        }
    }

    @Test
    void rotatesPhoneVideosUpright() throws IOException {
        try (Video video = Video.open(clip("turned.mp4"));
                Frame frame = video.next().orElseThrow()) {
            assertEquals(new Size(48, 64), frame.image().size());
            double[] red = {0, 0, 255};
            assertArrayEquals(red, frame.image().get(8, 40), 12, "turned to the right");
            assertGray(frame, 8, 8);
        }
    }

    @Test
    void readsAviWrittenByOpenCv() {
        OpenCv.load();
        Path file = folder.resolve("clip.avi");
        VideoWriter writer =
                new VideoWriter(
                        file.toString(),
                        Videoio.CAP_OPENCV_MJPEG,
                        VideoWriter.fourcc('M', 'J', 'P', 'G'),
                        10,
                        new Size(64, 48));
        for (int n = 0; n < FRAMES; n++) {
            Mat image = new Mat(48, 64, CvType.CV_8UC3, Scalar.all(20 + 7 * n));
            writer.write(image);
            image.release();
        }
        writer.release();
        try (Video video = Video.open(file)) {
            List<Frame> frames = frames(video);
            assertEquals(FRAMES, frames.size());
            frames.forEach(frame -> assertGray(frame, 40, 50));
            frames.forEach(Frame::close);
            assertEquals(Optional.empty(), video.fault());
        }
    }

    @Test
    void readsTruncatedVideosToTheirEnd() throws IOException {
        byte[] whole = Files.readAllBytes(clip("clip.mp4"));
        Path file = folder.resolve("short.mp4");
        for (int share = 84; share < 100; share += 5) {
            byte[] part = Arrays.copyOf(whole, whole.length * share / 100);
            Files.write(file, part);
            try (Video video = Video.open(file)) {
                List<Frame> frames = frames(video);
                assertTrue(frames.size() < FRAMES, share + " % have " + frames.size());
                assertGray(frames.get(0), 40, 50);
                String fault = video.fault().orElseThrow();
                assertTrue(
                        fault.startsWith(
                                Text.format(
                                        "%s: ends early after %d frames of 30, at ",
                                        file, frames.size())),
                        fault);
                frames.forEach(Frame::close);
            }
        }
    }

    @Test
    void changedBytesNeverCrashTheProcess() throws IOException {
        byte[] whole = Files.readAllBytes(clip("clip.mp4"));
        Path file = folder.resolve("damaged.mp4");
        for (int i = 0; i < whole.length; i += 17) {
            byte[] damaged = whole.clone();
            damaged[i] ^= (byte) 0x55;
            Files.write(file, damaged);
            try (Video video = Video.open(file)) {
                List<Frame> frames = frames(video);
                assertTrue(frames.size() <= 2 * FRAMES, "byte " + i);
                frames.forEach(Frame::close);
            } catch (SaccadeException e) {
                assertEquals(SaccadeException.Kind.USER, e.kind(), "byte " + i);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "no video",
                "#EXTM3U\n#EXTINF:1,\nclip.mp4\n#EXT-X-ENDLIST\n",
                "ffconcat version 1.0\nfile clip.mp4\n"
            })
    void rejectsOtherFiles(String content) throws IOException {
        clip("clip.mp4");
        Path file = Files.writeString(folder.resolve("a.mp4"), content);
        SaccadeException refused =
                assertThrows(SaccadeException.class, () -> Video.open(file).close());
        assertTrue(
                refused.getMessage().startsWith(file + ": is not a video"), refused.getMessage());
        assertTrue(refused.getMessage().contains("ffmpeg -i FILE frames/%06d.jpg"));
    }

    @Test
    void pathsAreNotUrls() {
        for (String name : List.of("http://localhost/a.mp4", "concat:a.mp4", "missing.mp4")) {
            SaccadeException refused =
                    assertThrows(SaccadeException.class, () -> Video.open(Path.of(name)).close());
            assertTrue(refused.getMessage().endsWith(": no such file"), refused.getMessage());
        }
        SaccadeException refused =
                assertThrows(SaccadeException.class, () -> Video.open(folder).close());
        assertFalse(refused.getMessage().contains("no such file"), refused.getMessage());
    }
}
